// The state of the page, and what follows from it. What follows is worked out when it is asked for and
// kept until what it depends on changes.
import { NO_FUNCTION } from './function_names.js';
import { changeColouring, functionColouring, modeColouring, moduleColouring } from './colour_rules.js';
import { windowOfNode } from './flame_layout.js';
import { functionRows } from './function_rows.js';
import { groupedTree, outermostNodes, weightyNodes } from './grouped_tree.js';
import { NameIndex } from './name_search.js';
import { rootedTree, rootOwners } from './rooted_tree.js';
import { isFiltered, selectedWeights } from './sample_filter.js';
import { functionFigures, matchedWeight, nodeOfPath, selfByFunction, wholeViewTree } from './tree_math.js';
import { spreadToRows, treeOfRows, withUnnamedRows } from './unnamed_code.js';

/** Fields of the state that go into the history, so that "back" undoes them. */
const STEPS = ['view', 'zoom', 'fn', 'threads', 'label', 'inverted', 'merged', 'root', 'measure', 'side'];

/** Keeps the latest result of each computation with what it was made of. */
class Memory {
  constructor() {
    /** @type {Map<string, {key: string, value: any}>} */
    this.kept = new Map();
  }

  /**
   * @template T
   * @param {string} name
   * @param {unknown[]} parts
   * @param {() => T} compute
   * @returns {T}
   */
  of(name, parts, compute) {
    const key = JSON.stringify(parts);
    const entry = this.kept.get(name);
    if (entry && entry.key === key) return entry.value;
    const value = compute();
    this.kept.set(name, { key, value });
    return value;
  }
}

export class PageModel {
  /**
   * @param {Profile} profile
   * @param {ViewState} state
   */
  constructor(profile, state) {
    const named = withUnnamedRows(profile);
    this.rowOf = named.rowOf;
    /** How many functions there are as the command line counts them. */
    this.functions = named.rowOf.reduce((sum, row, fn) => sum + (row === fn ? 1 : 0), 0);
    this.owners = rootOwners(named);
    this.profile = withOwners(named, this.owners);
    this.state = state;
    this.names = new NameIndex(named);
    this.memory = new Memory();
    /** @type {((changed: Set<string>) => void)[]} */
    this.listeners = [];
    /** @type {(step: boolean) => void} */
    this.onLinkChange = () => {};
  }

  /** @param {(changed: Set<string>) => void} listener called with the names of the fields that changed */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<ViewState>} patch */
  update(patch) {
    const changed = this.apply(patch);
    if (changed.size === 0) return;
    this.onLinkChange(STEPS.some((field) => changed.has(field)));
    for (const listener of this.listeners) listener(changed);
  }

  /** @param {ViewState} state of a link; makes no new step of the history */
  restore(state) {
    const changed = this.apply(state);
    for (const listener of this.listeners) listener(changed);
  }

  /**
   * @param {Partial<ViewState>} patch
   * @returns {Set<string>}
   */
  apply(patch) {
    const before = /** @type {any} */ (this.state);
    const changed = new Set(Object.entries(patch)
      .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]))
      .map(([field]) => field));
    this.state = { ...this.state, ...patch };
    return changed;
  }

  /** What decides which samples count. */
  get filterKey() {
    const { measure, side, range, threads, label } = this.state;
    return [measure, side, range, threads, label];
  }

  /** @returns {boolean} */
  get filtered() {
    return isFiltered(this.profile, this.state);
  }

  /** @returns {Measure} */
  get measure() {
    return this.profile.measures[this.state.measure] ?? { name: '', unit: 'samples', total: 0n };
  }

  /** @returns {Weights} */
  get weights() {
    return this.memory.of('weights', this.filterKey, () => selectedWeights(this.profile, this.state));
  }

  /** @returns {ViewTree} every node, root first */
  get whole() {
    // The order of the page is that of the first measure of all sides and samples.
    const inOrder = this.profile.tree.ordered === true && this.state.measure === 0 && this.profile.sides.length < 2 && !this.filtered;
    return this.memory.of('whole', this.filterKey, () => wholeViewTree(this.profile.tree, this.weights, inOrder));
  }

  /** @returns {{tree: Tree, weights: Weights, view: ViewTree}} what the flame graph is made of */
  get base() {
    const { profile, state } = this;
    if (state.root === 'none' || !profile.timeline) return { tree: profile.tree, weights: this.weights, view: this.whole };
    return this.memory.of('rooted', [this.filterKey, state.root], () => {
      const { tree, self } = rootedTree(profile, this.rowTree, state, this.owners);
      const weights = { self, oldSelf: null };
      return { tree, weights, view: wholeViewTree(tree, weights, true) };
    });
  }

  /** @returns {Tree} whose functions are rows of the table: code without a name is its module's */
  get rowTree() {
    return this.memory.of('row tree', [], () => treeOfRows(this.profile.tree, this.rowOf));
  }

  /**
   * @param {number} fn
   * @returns {Tree} in which to look for a function: a row, or a place that the flame graph shows
   */
  treeOf(fn) {
    return this.rowOf[fn] === fn ? this.rowTree : this.profile.tree;
  }

  /** @returns {FunctionFigures} of rows, and of the places in them */
  get figures() {
    return this.memory.of('figures', this.filterKey, () => {
      const { tree, functionCount } = this.profile;
      const figures = functionFigures(tree, this.weights, functionCount);
      if (this.rowTree === tree) return figures;
      const ofRows = functionFigures(this.rowTree, this.weights, functionCount);
      for (const key of /** @type {const} */ (['self', 'total', 'oldSelf', 'oldTotal'])) {
        const values = figures[key];
        const sums = ofRows[key];
        if (values && sums) this.rowOf.forEach((row, fn) => { if (row === fn) values[fn] = sums[fn]; });
      }
      return figures;
    });
  }

  /** @returns {SearchResult} */
  get search() {
    const { query, regex } = this.state;
    return this.memory.of('search', [query, regex], () => {
      const found = this.names.search(query, regex);
      if (found.mask) found.functions = spreadToRows(found.mask, this.rowOf);
      return found;
    });
  }

  /** @returns {number} weight of the callstacks with a function that was found */
  get matched() {
    const { query, regex } = this.state;
    const mask = this.search.mask;
    return mask ? this.memory.of('matched', [this.filterKey, query, regex], () => matchedWeight(this.whole, mask)) : 0;
  }

  /** @returns {import('./colour_rules.js').Colouring} */
  get colouring() {
    const { colour } = this.state;
    return this.memory.of('colouring', [colour, this.state.measure], () => {
      if (colour === 'change') return changeColouring(this.profile.functionCount, this.profile.diff);
      // Of all samples: a filter does not change colours.
      const { measure } = this.state;
      const all = new Float64Array(this.profile.functionCount);
      for (const side of this.profile.self) {
        selfByFunction(this.profile.tree, side[measure], all.length).forEach((weight, fn) => { all[fn] += weight; });
      }
      return { module: moduleColouring, function: functionColouring, mode: modeColouring }[colour](this.profile, all);
    });
  }

  /** @returns {import('./colour_rules.js').LegendEntry[]} with the weights of the samples that count */
  get legend() {
    const { colouring } = this;
    if (colouring.by === 'change') return colouring.legend;
    return this.memory.of('legend', [this.filterKey, this.state.colour], () => {
      const own = selfByFunction(this.profile.tree, this.weights.self, this.profile.functionCount);
      const sums = new Float64Array(256);
      own.forEach((weight, fn) => { sums[colouring.kind[fn]] += weight; });
      return colouring.legend.map((entry) => ({ ...entry, weight: entry.fn === undefined ? sums[entry.kind] : own[entry.fn] }));
    });
  }

  /** @returns {Uint32Array} functions of the table, in order */
  get rows() {
    const { sort, ascending, query, regex } = this.state;
    return this.memory.of('rows', [this.filterKey, sort, ascending, query, regex],
      () => functionRows(this.profile, this.figures, this.state, this.search.mask, (fn) => this.verdictOf(fn)));
  }

  /**
   * @param {number} fn
   * @returns {Finding | undefined} what the comparison says of a function
   */
  findingOf(fn) {
    return this.profile.diff?.findingOf(fn);
  }

  /**
   * @param {number} fn
   * @returns {string} '' without a comparison
   */
  verdictOf(fn) {
    const row = this.findingOf(fn);
    if (!row) return '';
    return row.self.verdict === row.total.verdict ? row.total.verdict : `${row.total.verdict}; self: ${row.self.verdict}`;
  }

  /** @returns {ViewTree} what the flame graph shows */
  get flame() {
    const { inverted, merged, root, zoom, window } = this.state;
    if (!inverted && !merged) return this.base.view;
    let coarse = this.memory.of('coarse', [this.filterKey, inverted, merged, root],
      () => groupedTree(this.flameSpec([0, 1], [])));
    if (coarse.pruned && coarse.depth[nodeOfPath(coarse, zoom)] < zoom.length) {
      coarse = this.memory.of('kept', [this.filterKey, inverted, merged, root, zoom],
        () => groupedTree(this.flameSpec([0, 1], zoom)));
    }
    if (!coarse.pruned || (!window && zoom.length === 0)) return coarse;
    return this.memory.of('fine', [this.filterKey, inverted, merged, root, zoom, window],
      () => groupedTree(this.flameSpec(window ?? fractionsOf(coarse, nodeOfPath(coarse, zoom)), zoom)));
  }

  /**
   * @param {[number, number]} window
   * @param {number[]} keep
   * @returns {import('./grouped_tree.js').GroupSpec}
   */
  flameSpec(window, keep) {
    const { inverted, merged } = this.state;
    const { tree, weights, view } = this.base;
    const shared = { tree, functionCount: this.profile.functionCount + this.owners.processes + this.profile.threads.length, merged, rootFn: NO_FUNCTION,
      whole: view.whole, window, keep };
    if (inverted) {
      const { self, oldSelf } = weights;
      return { ...shared, walk: 'up', leaves: true, nodes: weightyNodes(weights), value: self, old: oldSelf };
    }
    return { ...shared, walk: 'down', leaves: false, nodes: new Uint32Array(1), value: view.total, old: view.old };
  }

  /** @returns {[number, number]} weights between which the flame graph is shown */
  get flameWindow() {
    const view = this.flame;
    const { window, zoom } = this.state;
    if (window) return [window[0] * view.total[0], window[1] * view.total[0]];
    return windowOfNode(view, nodeOfPath(view, zoom));
  }

  /** @returns {{callers: ViewTree, callees: ViewTree}} of the function in the middle */
  get sandwich() {
    const { fn, merged } = this.state;
    return this.memory.of('sandwich', [this.filterKey, fn, merged], () => ({
      callers: groupedTree({ ...this.sandwichSpec([0, 1]), walk: 'up' }),
      callees: groupedTree({ ...this.sandwichSpec([0, 1]), walk: 'down' }),
    }));
  }

  /**
   * One side of it, with what is wide enough within a window.
   * @param {'callers' | 'callees'} which
   * @param {[number, number]} window fractions
   * @returns {ViewTree}
   */
  sandwichWithin(which, window) {
    const coarse = this.sandwich[which];
    if (!coarse.pruned) return coarse;
    const { fn, merged } = this.state;
    return this.memory.of(`${which} within`, [this.filterKey, fn, merged, window],
      () => groupedTree({ ...this.sandwichSpec(window), walk: which === 'callers' ? 'up' : 'down' }));
  }

  /**
   * @param {[number, number]} window
   * @returns {Omit<import('./grouped_tree.js').GroupSpec, 'walk'>}
   */
  sandwichSpec(window) {
    const { fn, merged } = this.state;
    const tree = this.treeOf(fn);
    return { tree, functionCount: this.profile.functionCount, merged, leaves: false, nodes: outermostNodes(tree, fn),
      rootFn: fn, value: this.whole.total, old: this.whole.old, whole: this.whole.whole, window, keep: [] };
  }

  /** @returns {Float64Array} sums of prefixSums */
  get sums() {
    return this.whole.left;
  }

  /** @returns {number} weight of all samples that count */
  get total() {
    return this.whole.whole[0];
  }
}

/**
 * @param {ViewTree} view
 * @param {number} node
 * @returns {[number, number]}
 */
function fractionsOf(view, node) {
  const [from, to] = windowOfNode(view, node);
  const total = view.total[0];
  return total > 0 ? [from / total, to / total] : [0, 1];
}

/**
 * The same profile, in which processes and threads have names, too.
 * @param {Profile} profile
 * @param {import('./rooted_tree.js').RootOwners} owners
 * @returns {Profile}
 */
function withOwners(profile, owners) {
  const title = (/** @type {number} */ fn) => owners.titleOf(fn - owners.first);
  return {
    ...profile,
    functionName: (fn) => (fn < owners.first ? profile.functionName(fn) : title(fn)),
    shortNames: (fn) => (fn < owners.first ? profile.shortNames(fn) : [title(fn)]),
  };
}

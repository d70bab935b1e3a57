// Callstacks below the process or the thread that they ran in.
import { NO_FUNCTION } from './function_names.js';
import { GrowingFloats, GrowingUints } from './growing_list.js';
import { eachWait, stateOfMeasure } from './lane_weights.js';
import { rowChoice, rowsOfRange } from './sample_filter.js';
import { shownText } from './shown_names.js';
import { brokenRootOf } from './unnamed_code.js';

/** Of more processes than this, those of one name are one box: a build has hundreds of compilers. */
const MOST_PROCESS_BOXES = 24;

/**
 * What callstacks may stand below: numbers of processes follow those of the functions, then those of threads.
 * @typedef {object} RootOwners
 * @property {number} first of the processes
 * @property {number} processes how many there are
 * @property {(owner: number) => string} titleOf processes, then threads
 * @property {Uint32Array} processOf by thread
 */

/**
 * @param {Profile} profile
 * @returns {RootOwners}
 */
export function rootOwners(profile) {
  const { threads } = profile;
  const single = numbered(threads.map((thread) => `${thread.pid} ${thread.process}`));
  const byName = single.first.length > MOST_PROCESS_BOXES;
  // Processes by their names: how many have one.
  const names = byName ? numbered(single.first.map((thread) => threads[thread].process)) : null;
  const processOf = names ? single.number.map((process) => names.number[process]) : single.number;
  const members = new Uint32Array(names ? names.first.length : single.first.length);
  if (names) for (const name of names.number) members[name]++;
  const titleOf = (/** @type {number} */ owner) => {
    const of = owner - members.length;
    if (of >= 0) return threads[of] ? `${ownerText(threads[of].process, threads[of].pid)}, thread ${ownerText(threads[of].thread, threads[of].tid)}` : '';
    const { process, pid } = threads[single.first[names ? names.first[owner] : owner]];
    return members[owner] > 1 ? `${shownText(process) || '(no name)'}, ${members[owner]} processes` : ownerText(process, pid);
  };
  return { first: profile.functionCount, processes: members.length, titleOf, processOf };
}

/**
 * @param {string[]} texts
 * @returns {{number: Uint32Array, first: number[]}} equal texts have one number; where each number comes first
 */
function numbered(texts) {
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @type {number[]} */
  const first = [];
  const number = new Uint32Array(texts.length);
  texts.forEach((text, k) => {
    let one = known.get(text);
    if (one === undefined) {
      known.set(text, one = first.length);
      first.push(k);
    }
    number[k] = one;
  });
  return { number, first };
}

/**
 * @param {string} name
 * @param {number} id -1: not recorded
 * @returns {string}
 */
function ownerText(name, id) {
  return (shownText(name) || (id === 0 ? 'idle' : '(no name)')) + (id >= 0 ? ` (${id})` : '');
}

/**
 * A recording of a machine: it has idle processors in it, or many processes.
 * @param {Profile} profile
 * @returns {boolean}
 */
export function isWholeMachine(profile) {
  if (!profile.timeline || profile.sides.length > 1) return false;
  const pids = new Set(profile.threads.slice(0, profile.sampledThreads || undefined).map((thread) => thread.pid));
  return pids.has(0) || pids.size >= 4;
}

/** The child of a node with a function, of millions: a table of whole numbers, where a Map would make an object of each key. */
class ChildTable {
  constructor() {
    this.slots = new Uint32Array(1 << 12);  // child, 0 for a free one: the root is nobody's child
    this.used = 0;
  }

  /**
   * @param {GrowingUints} parents
   * @param {GrowingUints} fns
   * @param {number} parent
   * @param {number} fn
   * @returns {number} slot of the child, or a free one for it
   */
  find(parents, fns, parent, fn) {
    const mask = this.slots.length - 1;
    const hash = Math.imul(parent ^ Math.imul(fn, 0x85ebca6b), 0x9e3779b1);
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const child = this.slots[slot];
      if (child === 0 || (parents.values[child] === parent && fns.values[child] === fn)) return slot;
    }
  }

  /**
   * @param {GrowingUints} parents
   * @param {GrowingUints} fns
   * @param {number} slot a free one
   * @param {number} child
   */
  put(parents, fns, slot, child) {
    this.slots[slot] = child;
    if (++this.used * 2 < this.slots.length) return;
    const old = this.slots;
    this.slots = new Uint32Array(2 * old.length);
    for (const one of old) if (one !== 0) this.slots[this.find(parents, fns, parents.values[one], fns.values[one])] = one;
  }
}

/** A tree that grows by paths of another one. Children of a node have different functions. */
class OwnedTree {
  /**
   * @param {Tree} source
   * @param {number} skipped function that is left out next to the root: what it calls stands in its place
   */
  constructor(source, skipped) {
    this.source = source;
    this.skipped = skipped;
    /** @type {number[]} nodes on the way to one, the farthest first */
    this.path = [];
    this.fn = new GrowingUints();
    this.parent = new GrowingUints();
    this.self = new GrowingFloats();
    this.known = new ChildTable();
    this.owned = new Int32Array(source.count).fill(-1);  // by node of the source: the owner whose place is known
    this.place = new Uint32Array(source.count);
    this.add(0, NO_FUNCTION);
  }

  /**
   * @param {number} parent
   * @param {number} fn
   * @returns {number} its node
   */
  add(parent, fn) {
    this.fn.push(fn);
    this.parent.push(parent);
    this.self.push(0);
    return this.fn.length - 1;
  }

  /**
   * @param {number} number of the owner
   * @param {number} fn that stands for it
   */
  begin(number, fn) {
    this.number = number;
    this.place[0] = this.add(0, fn);
    this.owned[0] = number;
  }

  /**
   * @param {number} node of the source
   * @returns {number} its node below the owner that was begun last
   */
  placeOf(node) {
    const { source, owned, place, path } = this;
    const number = /** @type {number} */ (this.number);
    let length = 0;
    let at = node;
    for (; owned[at] !== number; at = source.parent[at]) path[length++] = at;
    let parent = place[at];
    for (let k = length - 1; k >= 0; k--) {
      const one = path[k];
      if (source.parent[one] !== 0 || source.fn[one] !== this.skipped) parent = this.childOf(parent, source.fn[one]);
      owned[one] = number;
      place[one] = parent;
    }
    return parent;
  }

  /**
   * @param {number} parent
   * @param {number} fn
   * @returns {number}
   */
  childOf(parent, fn) {
    const slot = this.known.find(this.parent, this.fn, parent, fn);
    const known = this.known.slots[slot];
    if (known !== 0) return known;
    const child = this.add(parent, fn);
    this.known.put(this.parent, this.fn, slot, child);
    return child;
  }

  /** @returns {{tree: Tree, self: Float64Array}} depth first, the heaviest of siblings first */
  finish() {
    const count = this.fn.length;
    const parent = this.parent.values;
    const total = this.self.toArray();
    for (let node = count - 1; node > 0; node--) total[parent[node]] += total[node];
    const { first, children } = childLists(parent, total, count);
    const tree = { count, fn: new Uint32Array(count), parent: new Uint32Array(count), end: new Uint32Array(count), depth: new Uint32Array(count), ordered: true };
    const self = new Float64Array(count);
    const pending = [0];
    const above = [0];
    for (let number = 0; pending.length > 0; number++) {
      const node = /** @type {number} */ (pending.pop());
      const up = /** @type {number} */ (above.pop());
      tree.fn[number] = this.fn.values[node];
      self[number] = this.self.values[node];
      tree.parent[number] = up;
      tree.depth[number] = number === 0 ? 0 : tree.depth[up] + 1;
      for (let k = first[node + 1] - 1; k >= first[node]; k--) {
        pending.push(children[k]);
        above.push(number);
      }
    }
    for (let node = count - 1; node >= 0; node--) {
      tree.end[node] = Math.max(tree.end[node], node + 1);
      if (node > 0) tree.end[tree.parent[node]] = Math.max(tree.end[tree.parent[node]], tree.end[node]);
    }
    return { tree, self };
  }
}

/**
 * @param {Uint32Array} parent lower than its children
 * @param {Float64Array} total
 * @param {number} count
 * @returns {{first: Uint32Array, children: Uint32Array}} by node where its children begin, the heaviest first
 */
function childLists(parent, total, count) {
  const first = new Uint32Array(count + 2);
  for (let node = 1; node < count; node++) first[parent[node] + 2]++;
  for (let node = 2; node < first.length; node++) first[node] += first[node - 1];
  const children = new Uint32Array(Math.max(0, count - 1));
  for (let node = 1; node < count; node++) children[first[parent[node] + 1]++] = node;
  for (let node = 0; node < count; node++) {
    if (first[node + 1] - first[node] > 1) sortByWeight(children, first[node], first[node + 1], total);
  }
  return { first, children };
}

/** Most lists of children are short. */
const SHORT_LIST = 16;

/**
 * @param {Uint32Array} nodes ascending; from here to there they are put into the order of their weights
 * @param {number} from
 * @param {number} to
 * @param {Float64Array} total
 */
function sortByWeight(nodes, from, to, total) {
  if (to - from > SHORT_LIST) {
    nodes.subarray(from, to).sort((a, b) => total[b] - total[a] || a - b);
    return;
  }
  for (let k = from + 1; k < to; k++) {
    const node = nodes[k];
    let place = k;
    for (; place > from && total[nodes[place - 1]] < total[node]; place--) nodes[place] = nodes[place - 1];
    nodes[place] = node;
  }
}

/**
 * The tree with owners between the root and the callstacks, and own weights of its nodes. What the rows of the
 * timeline cut is cut here, too. A sample without a callstack is the owner's own. Of a callstack whose root is not known the part
 * that is known stands directly in its owner.
 * @param {Profile} profile with a timeline
 * @param {Tree} source the profile's tree, or that of rows
 * @param {ViewState} state
 * @param {RootOwners} owners
 * @returns {{tree: Tree, self: Float64Array}}
 */
export function rootedTree(profile, source, state, owners) {
  const lists = rowsByOwner(profile, state, (thread) => (state.root === 'process' ? owners.processOf[thread] : owners.processes + thread));
  const grown = new OwnedTree(source, brokenRootOf(profile, source));
  lists.forEach(({ owner, rows }, number) => {
    grown.begin(number, owners.first + owner);
    for (const [leaf, value] of rows) {
      const node = grown.placeOf(leaf);
      grown.self.values[node] += value;
    }
  });
  return grown.finish();
}

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @param {(thread: number) => number} ownerOf
 * @returns {{owner: number, weight: number, rows: [number, number][]}[]} node and weight of rows that count, the heaviest owner first
 */
function rowsByOwner(profile, state, ownerOf) {
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const waits = stateOfMeasure(profile, state.measure);
  if (waits >= 0) return waitsByOwner(profile, waits, state, ownerOf);
  const [from, to] = rowsOfRange(timeline, state.range);
  const wanted = rowChoice(profile, state);
  /** @type {Map<number, {owner: number, weight: number, rows: [number, number][]}>} */
  const lists = new Map();
  const { measure, thread, node, value } = timeline;
  for (let row = from; row < to; row++) {
    if (measure[row] !== state.measure || !wanted(row) || value[row] === 0) continue;
    const owner = ownerOf(thread[row]);
    let list = lists.get(owner);
    if (!list) lists.set(owner, list = { owner, weight: 0, rows: [] });
    list.weight += value[row];
    list.rows.push([node[row], value[row]]);
  }
  return Array.from(lists.values()).sort((a, b) => b.weight - a.weight || a.owner - b.owner);
}

/**
 * The same of time in which threads waited.
 * @param {Profile} profile
 * @param {number} waits state of lanes
 * @param {ViewState} state
 * @param {(thread: number) => number} ownerOf
 * @returns {ReturnType<typeof rowsByOwner>}
 */
function waitsByOwner(profile, waits, state, ownerOf) {
  const tick = profile.lanes?.tick ?? 1;
  /** @type {Map<number, Map<number, number>>} */
  const sums = new Map();
  eachWait(profile, waits, state, (thread, node, from, to) => {
    if (from === to) return;
    const owner = ownerOf(thread);
    let nodes = sums.get(owner);
    if (!nodes) sums.set(owner, nodes = new Map());
    nodes.set(node, (nodes.get(node) ?? 0) + (to - from) * tick);
  });
  return Array.from(sums, ([owner, nodes]) => {
    const rows = Array.from(nodes);
    return { owner, weight: rows.reduce((sum, [, value]) => sum + value, 0), rows };
  }).sort((a, b) => b.weight - a.weight || a.owner - b.owner);
}

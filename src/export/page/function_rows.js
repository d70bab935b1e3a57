// Rows of the table of functions, and of direct callers and callees.

/** A row that is no function: the callstack begins here, or ends here. */
export const ROOT_ROW = -1;
export const SELF_ROW = -2;

/**
 * Functions in the order of the table: those with weight (of either side), as far as found.
 * @param {Profile} profile
 * @param {FunctionFigures} figures
 * @param {ViewState} state
 * @param {Uint8Array | null} mask functions found by a search
 * @param {(fn: number) => string} verdictOf
 * @returns {Uint32Array}
 */
export function functionRows(profile, figures, state, mask, verdictOf) {
  const rows = [];
  const { total, oldTotal } = figures;
  const { rowOf } = profile;
  for (let fn = 0; fn < profile.functionCount; fn++) {
    if (rowOf && rowOf[fn] !== fn) continue;
    if ((total[fn] !== 0 || (oldTotal && oldTotal[fn] !== 0)) && (!mask || mask[fn])) rows.push(fn);
  }
  const compare = comparison(profile, figures, state.sort, verdictOf);
  const turn = state.ascending ? -1 : 1;
  rows.sort((a, b) => turn * compare(a, b) || a - b);
  return Uint32Array.from(rows);
}

/**
 * Heaviest first, names from a to z.
 * @param {Profile} profile
 * @param {FunctionFigures} figures
 * @param {ViewState['sort']} sort
 * @param {(fn: number) => string} verdictOf
 * @returns {(a: number, b: number) => number}
 */
function comparison(profile, figures, sort, verdictOf) {
  if (sort === 'name') return byText(profile.functionCount, profile.functionName);
  if (sort === 'module') {
    return byText(profile.functionCount, (fn) => profile.modules[profile.functionModule[fn]] ?? '');
  }
  if (sort === 'verdict') return byText(profile.functionCount, verdictOf);
  if (sort === 'change' || sort === 'change-self') {
    const figure = sort === 'change' ? 'total' : 'self';
    const costs = Boolean(profile.diff?.work);
    return (a, b) => Math.abs(shareChange(figures, b, figure, costs)) - Math.abs(shareChange(figures, a, figure, costs));
  }
  const [first, second] = sort === 'self' ? [figures.self, figures.total] : [figures.total, figures.self];
  return (a, b) => first[b] - first[a] || second[b] - second[a];
}

/**
 * @param {number} count
 * @param {(fn: number) => string} textOf
 * @returns {(a: number, b: number) => number}
 */
function byText(count, textOf) {
  const texts = Array.from({ length: count }, (_, fn) => textOf(fn));
  return (a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0);
}

/**
 * Change of the share of all, or of the cost; 0 without another side.
 * @param {FunctionFigures} figures
 * @param {number} fn
 * @param {'self' | 'total'} [figure]
 * @param {boolean} [costs]
 * @returns {number}
 */
export function shareChange(figures, fn, figure = 'total', costs = false) {
  const [now, before] = figure === 'total' ? [figures.total, figures.oldTotal] : [figures.self, figures.oldSelf];
  if (!before) return 0;
  if (costs) return now[fn] - before[fn];
  const share = figures.whole[0] > 0 ? now[fn] / figures.whole[0] : 0;
  const old = figures.whole[1] > 0 ? before[fn] / figures.whole[1] : 0;
  return share - old;
}

/**
 * @typedef {{fn: number, weight: number}} NeighbourRow fn may be ROOT_ROW or SELF_ROW
 */

/**
 * What stands directly above a function in the callstacks. A sample counts once in each row.
 * @param {Tree} tree
 * @param {Float64Array} sums of prefixSums
 * @param {number} fn
 * @returns {NeighbourRow[]} heaviest first
 */
export function callerRows(tree, sums, fn) {
  const found = new NeighbourSums(tree, sums);
  for (let node = 1; node < tree.count; node++) {
    if (tree.fn[node] !== fn) continue;
    const caller = tree.parent[node];
    found.add(caller === 0 ? ROOT_ROW : tree.fn[caller], node);
  }
  return found.rows();
}

/**
 * What stands directly below a function in the callstacks.
 * @param {Tree} tree
 * @param {Float64Array} sums of prefixSums
 * @param {number} fn
 * @returns {NeighbourRow[]} heaviest first
 */
export function calleeRows(tree, sums, fn) {
  const found = new NeighbourSums(tree, sums);
  let self = 0;
  for (let node = 1; node < tree.count; node++) {
    if (tree.fn[node] === fn) self += sums[node + 1] - sums[node];
    if (tree.parent[node] !== 0 && tree.fn[tree.parent[node]] === fn) found.add(tree.fn[node], node);
  }
  const rows = found.rows();
  if (self > 0) rows.push({ fn: SELF_ROW, weight: self });
  return rows.sort((a, b) => b.weight - a.weight || a.fn - b.fn);
}

/** Adds subtrees by neighbour; those inside one that was added already are the same samples again. */
class NeighbourSums {
  /**
   * @param {Tree} tree
   * @param {Float64Array} sums
   */
  constructor(tree, sums) {
    this.tree = tree;
    this.sums = sums;
    /** @type {Map<number, {weight: number, covered: number}>} */
    this.found = new Map();
  }

  /**
   * @param {number} neighbour
   * @param {number} node depth first
   */
  add(neighbour, node) {
    const end = this.tree.end[node];
    const weight = this.sums[end] - this.sums[node];
    const row = this.found.get(neighbour);
    if (!row) {
      this.found.set(neighbour, { weight, covered: end });
    } else if (node >= row.covered) {
      row.weight += weight;
      row.covered = end;
    }
  }

  /** @returns {NeighbourRow[]} */
  rows() {
    return Array.from(this.found, ([fn, row]) => ({ fn, weight: row.weight }))
      .filter((row) => row.weight > 0)
      .sort((a, b) => b.weight - a.weight || a.fn - b.fn);
  }
}

// Sums over a tree whose nodes stand depth first: a subtree is a range, so its sum is a difference.
import { NO_FUNCTION } from './function_names.js';

/**
 * Sums of the weights before each node; one entry more than there are nodes. Exact up to 2^53.
 * @param {Float64Array} self
 * @returns {Float64Array}
 */
export function prefixSums(self) {
  const sums = new Float64Array(self.length + 1);
  let sum = 0;
  for (let i = 0; i < self.length; i++) {
    sums[i] = sum;
    sum += self[i];
  }
  sums[self.length] = sum;
  return sums;
}

/**
 * Weight of each subtree.
 * @param {Tree} tree
 * @param {Float64Array} sums of prefixSums
 * @returns {Float64Array}
 */
export function subtreeTotals(tree, sums) {
  const totals = new Float64Array(tree.count);
  const end = tree.end;
  for (let i = 0; i < tree.count; i++) totals[i] = sums[end[i]] - sums[i];
  return totals;
}

/**
 * The profile's own tree as it is drawn, with every node.
 * @param {Tree} tree
 * @param {Weights} weights
 * @param {boolean} [inOrder] whether siblings come by these weights, the heaviest first
 * @returns {ViewTree}
 */
export function wholeViewTree(tree, weights, inOrder = false) {
  const sums = prefixSums(weights.self);
  const total = subtreeTotals(tree, sums);
  const old = weights.oldSelf ? subtreeTotals(tree, prefixSums(weights.oldSelf)) : null;
  return {
    count: tree.count, fn: tree.fn, parent: tree.parent, end: tree.end, depth: tree.depth,
    left: sums, total, old, whole: [total[0] ?? 0, old ? old[0] : 0], rootFn: NO_FUNCTION, pruned: false,
    heaviestFirst: inOrder,
  };
}

/**
 * Adds self weights by function, and totals of the outermost nodes of each function.
 * @param {Tree} tree
 * @param {Float64Array} self
 * @param {number} functionCount
 * @returns {{self: Float64Array, total: Float64Array}}
 */
function figuresOfSide(tree, self, functionCount) {
  const own = new Float64Array(functionCount);
  const total = new Float64Array(functionCount);
  const sums = prefixSums(self);
  // Until which node the function's outermost node reaches: nodes before that are recursion.
  const covered = new Uint32Array(functionCount);
  const { fn, end } = tree;
  for (let i = 1; i < tree.count; i++) {
    const f = fn[i];
    own[f] += self[i];
    if (i >= covered[f]) {
      covered[f] = end[i];
      total[f] += sums[end[i]] - sums[i];
    }
  }
  return { self: own, total };
}

/**
 * @param {Tree} tree
 * @param {Weights} weights
 * @param {number} functionCount
 * @returns {FunctionFigures}
 */
export function functionFigures(tree, weights, functionCount) {
  const shown = figuresOfSide(tree, weights.self, functionCount);
  const old = weights.oldSelf ? figuresOfSide(tree, weights.oldSelf, functionCount) : null;
  return {
    self: shown.self, total: shown.total,
    oldSelf: old ? old.self : null, oldTotal: old ? old.total : null,
    whole: [sumOf(weights.self), weights.oldSelf ? sumOf(weights.oldSelf) : 0],
  };
}

/**
 * Self weights of a side by function.
 * @param {Tree} tree
 * @param {Float64Array} self
 * @param {number} functionCount
 * @returns {Float64Array}
 */
export function selfByFunction(tree, self, functionCount) {
  const own = new Float64Array(functionCount);
  for (let i = 1; i < tree.count; i++) own[tree.fn[i]] += self[i];
  return own;
}

/**
 * @param {Float64Array} values
 * @returns {number}
 */
export function sumOf(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

/**
 * Weight of the callstacks that have at least one function of the mask: subtrees of the outermost ones.
 * @param {ViewTree} view
 * @param {Uint8Array} mask by function
 * @returns {number}
 */
export function matchedWeight(view, mask) {
  const { fn, end, total, count } = view;
  let sum = 0;
  for (let i = 1; i < count;) {
    if (mask[fn[i]]) {
      sum += total[i];
      i = end[i];
    } else {
      i++;
    }
  }
  return sum;
}

/**
 * Functions from below the root to a node.
 * @param {{fn: Uint32Array, parent: Uint32Array}} tree
 * @param {number} node
 * @returns {number[]}
 */
export function pathOfNode(tree, node) {
  const path = [];
  for (let i = node; i !== 0; i = tree.parent[i]) path.push(tree.fn[i]);
  return path.reverse();
}

/**
 * The node at the end of a path, or the last one of it that is there.
 * @param {{count: number, fn: Uint32Array, end: Uint32Array}} tree
 * @param {number[]} path
 * @returns {number}
 */
export function nodeOfPath(tree, path) {
  let node = 0;
  for (const fn of path) {
    let child = node + 1;
    while (child < tree.end[node] && tree.fn[child] !== fn) child = tree.end[child];
    if (child >= tree.end[node]) return node;
    node = child;
  }
  return node;
}

/**
 * Children of a node, in order.
 * @param {{end: Uint32Array}} tree
 * @param {number} node
 * @returns {number[]}
 */
export function childrenOf(tree, node) {
  const children = [];
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) children.push(child);
  return children;
}

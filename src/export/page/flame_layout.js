// Which nodes are drawn, and where. Nothing narrower than half a pixel is.

/** Nodes narrower than this many pixels are not drawn. */
const NARROWEST_PIXELS = 0.5;

/**
 * Nodes to draw by depth; within a depth from left to right.
 * @param {ViewTree} view
 * @param {[number, number]} window the part of the root's weight that is shown
 * @param {number} pixels width of the picture
 * @returns {number[][]}
 */
export function visibleRows(view, window, pixels) {
  const [from, to] = window;
  /** @type {number[][]} */
  const rows = [];
  if (!(to > from) || view.count === 0) return rows;
  const narrowest = ((to - from) / Math.max(1, pixels)) * NARROWEST_PIXELS;
  const { left, total, end, depth, parent, count, heaviestFirst } = view;
  /** @type {number[]} half pixel of the last narrow box, by row */
  const cells = [];
  for (let i = 0; i < count;) {
    const x = left[i];
    if (x >= to) {
      if (!view.bands) break;
      i = end[i];
      continue;
    }
    const width = total[i];
    if (width < narrowest && view.bands) {
      // What comes in the order of time has no end at which the narrow ones stand: the first in each half pixel is drawn.
      const cell = Math.floor((x - from) / narrowest);
      if (x + width <= from || cells[depth[i]] === cell) {
        i++;
        continue;
      }
      cells[depth[i]] = cell;
    } else if (width < narrowest) {
      // Those behind it are no wider where the heaviest come first.
      i = heaviestFirst && i > 0 ? end[parent[i]] : end[i];
      continue;
    }
    if (x + width <= from) {
      i = end[i];
      continue;
    }
    const row = depth[i];
    while (rows.length <= row) rows.push([]);
    rows[row].push(i);
    i++;
  }
  return rows;
}

/**
 * Where boxes were left out as too narrow: between the children of a box that are drawn, and behind them.
 * @param {ViewTree} view
 * @param {number[][]} rows of visibleRows
 * @param {number} least weights less than this are not worth a box
 * @returns {{row: number, from: number, to: number, first: number}[]} weights; also of what lies outside of the window;
 *   first: the node that was left out first, -1 where the tree does not have it
 */
export function narrowRests(view, rows, least) {
  /** @type {{row: number, from: number, to: number, first: number}[]} */
  const rests = [];
  const { left, total, end } = view;
  if (view.bands) return rests;
  for (let row = 0; row < rows.length; row++) {
    const below = rows[row + 1] ?? [];
    let next = 0;
    for (const node of rows[row]) {
      const to = left[node] + total[node];
      let from = to - weightBelow(view, node);
      let first = node + 1;
      while (next < below.length && below[next] < node) next++;
      for (; next < below.length && below[next] < end[node]; next++) {
        const child = below[next];
        if (left[child] - from >= least) rests.push({ row: row + 1, from, to: left[child], first: view.below ? -1 : first });
        from = left[child] + total[child];
        first = end[child];
      }
      if (to > from && to - from >= least) rests.push({ row: row + 1, from, to, first: view.below ? -1 : first });
    }
  }
  return rests;
}

/**
 * @param {ViewTree} view
 * @param {number} node
 * @returns {number} weight of all its children, also of those that are left out
 */
function weightBelow(view, node) {
  if (view.below) return view.below[node];
  return view.end[node] > node + 1 ? view.left[node] + view.total[node] - view.left[node + 1] : 0;
}

/**
 * The node at a place.
 * @param {ViewTree} view
 * @param {number[][]} rows of visibleRows
 * @param {number} row
 * @param {number} weight where in the root's weight
 * @returns {number} node, or -1
 */
export function nodeAt(view, rows, row, weight) {
  const nodes = rows[row];
  if (!nodes) return -1;
  let low = 0;
  let high = nodes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (view.left[nodes[middle]] <= weight) low = middle;
    else high = middle - 1;
  }
  const node = nodes[low];
  return node !== undefined && view.left[node] <= weight && weight < view.left[node] + view.total[node] ? node : -1;
}

/**
 * The weights between which a node lies.
 * @param {ViewTree} view
 * @param {number} node
 * @returns {[number, number]}
 */
export function windowOfNode(view, node) {
  return [view.left[node], view.left[node] + view.total[node]];
}

/**
 * A window made larger or smaller around a place, within [0, 1].
 * @param {[number, number]} window as fractions
 * @param {number} place fraction that stays where it is
 * @param {number} factor below 1: closer
 * @returns {[number, number] | null} null: everything
 */
export function zoomedWindow(window, place, factor) {
  const size = Math.min(1, Math.max(1e-9, (window[1] - window[0]) * factor));
  if (size >= 1) return null;
  const part = (place - window[0]) / (window[1] - window[0]);
  return movedInside([place - part * size, place + (1 - part) * size]);
}

/**
 * @param {[number, number]} window as fractions
 * @returns {[number, number]} of the same size, within [0, 1]
 */
export function movedInside(window) {
  const size = window[1] - window[0];
  const from = Math.min(1 - size, Math.max(0, window[0]));
  return [from, from + size];
}

// Draws boxes of a tree on a canvas, and gives them out for pictures.
import { mixedColour, nodeColour } from './colour_rules.js';
import { narrowRests } from './flame_layout.js';
import { NO_FUNCTION } from './function_names.js';

export const ROW_HEIGHT = 20;
export const FLAME_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const LABEL_INDENT = 5;
/** Boxes narrower than this have no label. */
const NARROWEST_LABEL = 26;
const REST_LABEL = 'narrower boxes: zoom in';

/**
 * @typedef {object} FlameScene
 * @property {ViewTree} view
 * @property {number[][]} rows of visibleRows
 * @property {[number, number]} window weights
 * @property {'up' | 'down'} direction
 * @property {number} width in CSS pixels
 * @property {number} contentHeight of all rows
 * @property {import('./colour_rules.js').Palette} palette
 * @property {import('./colour_rules.js').Colouring} colouring
 * @property {Uint8Array | null} mask functions found by a search
 * @property {import('./label_fitter.js').LabelFitter} fitter
 * @property {string} rootText
 * @property {number} focus node, or -1
 * @property {number} hover node, or -1
 * @property {boolean} focused whether the focus is shown
 */

/**
 * @param {FlameScene} scene
 * @param {number} row
 * @returns {number} top of a row
 */
export function topOfRow(scene, row) {
  return scene.direction === 'down' ? row * ROW_HEIGHT : scene.contentHeight - (row + 1) * ROW_HEIGHT;
}

/**
 * @param {FlameScene} scene
 * @param {number} y
 * @returns {number} row
 */
export function rowAtHeight(scene, y) {
  const fromRoot = scene.direction === 'down' ? y : scene.contentHeight - y;
  return Math.floor(fromRoot / ROW_HEIGHT);
}

/**
 * Left and right edge of a node's box, cut to what is shown.
 * @param {FlameScene} scene
 * @param {number} node
 * @returns {[number, number]}
 */
export function edgesOf(scene, node) {
  const [from, to] = scene.window;
  const scale = scene.width / (to - from);
  const left = (scene.view.left[node] - from) * scale;
  const right = left + scene.view.total[node] * scale;
  return [Math.max(0, left), Math.min(scene.width, right)];
}

/**
 * @param {FlameScene} scene
 * @param {number} node
 * @returns {boolean} whether a search is on and did not find the node
 */
function isDimmed(scene, node) {
  if (scene.mask === null) return false;
  // The function in the middle of callers and callees stays what it is.
  return node === 0 ? scene.view.rootFn === NO_FUNCTION : !scene.mask[scene.view.fn[node]];
}

/**
 * @param {FlameScene} scene
 * @param {number} node
 * @returns {string}
 */
function fillOf(scene, node) {
  if (isDimmed(scene, node)) return scene.palette.dimmed;
  if (node === 0 && scene.view.rootFn === NO_FUNCTION) return scene.palette.root;
  return nodeColour(scene.view, node, scene.colouring, scene.palette);
}

/**
 * @param {FlameScene} scene
 * @param {number} node
 * @param {number} room
 * @returns {string}
 */
function labelOfNode(scene, node, room) {
  if (room < NARROWEST_LABEL) return '';
  if (node === 0) return scene.rootText;
  return scene.fitter.labelOf(scene.view.fn[node], room - 2 * LABEL_INDENT);
}

/**
 * Draws the rows that lie between top and bottom, on a background that is there.
 * @param {CanvasRenderingContext2D} context already scaled to CSS pixels
 * @param {FlameScene} scene
 * @param {number} top
 * @param {number} bottom
 * @returns {number} boxes drawn
 */
export function paintFlame(context, scene, top, bottom) {
  context.font = FLAME_FONT;
  context.textBaseline = 'middle';
  let boxes = 0;
  paintRests(context, scene, top, bottom);
  for (let row = 0; row < scene.rows.length; row++) {
    const y = topOfRow(scene, row) - top;
    if (y + ROW_HEIGHT <= 0 || y >= bottom - top) continue;
    paintRow(context, scene, scene.rows[row], y);
    boxes += scene.rows[row].length;
  }
  if (scene.focused && scene.focus >= 0) outline(context, scene, scene.focus, top, scene.palette.ring, 2.5);
  if (scene.hover >= 0) outline(context, scene, scene.hover, top, scene.palette.text, 1.25);
  return boxes;
}

/**
 * What is there and too narrow to be drawn is a pale box, and no hole.
 * @param {CanvasRenderingContext2D} context
 * @param {FlameScene} scene
 * @param {number} top
 * @param {number} bottom
 */
function paintRests(context, scene, top, bottom) {
  for (const { x, y: place, width, label, fill } of restsOfScene(scene)) {
    const y = place - top;
    if (y + ROW_HEIGHT <= 0 || y >= bottom - top) continue;
    context.fillStyle = fill;
    context.fillRect(x, y, width, ROW_HEIGHT - 1);
    if (label === '') continue;
    context.fillStyle = scene.palette.text;
    context.fillText(label, x + LABEL_INDENT, y + ROW_HEIGHT / 2);
  }
}

/** So many of the boxes that were left out say what colour stands for them. */
const REST_SAMPLE = 64;
/** How pale it is. */
const REST_PALENESS = 0.4;

/**
 * A pale colour of what most of the boxes are that were left out.
 * @param {FlameScene} scene
 * @param {{first: number, to: number}} rest
 * @returns {string}
 */
function restColour(scene, { first, to }) {
  const { view, colouring, palette, mask } = scene;
  if (first < 0 || mask || colouring.by === 'change') return palette.dimmed;
  const sums = new Float64Array(palette.kinds.length);
  for (let node = first, left = REST_SAMPLE; left > 0 && node < view.count && view.left[node] < to; node = view.end[node], left--) {
    const fn = view.fn[node];
    if (fn < colouring.kind.length) sums[colouring.kind[fn]] += view.total[node];
  }
  const best = sums.indexOf(Math.max(...sums));
  return sums[best] > 0 ? mixedColour(palette.kinds[best], palette.back, REST_PALENESS) : palette.dimmed;
}

/**
 * @param {FlameScene} scene
 * @returns {{x: number, y: number, width: number, label: string, fill: string}[]} boxes of two pixels and more
 */
function restsOfScene(scene) {
  const [from, to] = scene.window;
  const scale = scene.width / (to - from);
  return narrowRests(scene.view, scene.rows, 2 / scale).flatMap((rest) => {
    const x = Math.max(0, (rest.from - from) * scale);
    const width = Math.min(scene.width, (rest.to - from) * scale) - x - 1;
    const label = scene.fitter.widthOf(REST_LABEL) + 2 * LABEL_INDENT <= width ? REST_LABEL : '';
    return width > 0 ? [{ x, y: topOfRow(scene, rest.row), width, label, fill: restColour(scene, rest) }] : [];
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {FlameScene} scene
 * @param {number[]} nodes
 * @param {number} y
 */
function paintRow(context, scene, nodes, y) {
  const { view, mask, width: room } = scene;
  const from = scene.window[0];
  const scale = room / (scene.window[1] - from);
  let fill = '';
  // As edgesOf, without an array for each of some thousand boxes.
  for (const node of nodes) {
    const start = (view.left[node] - from) * scale;
    const left = start > 0 ? start : 0;
    const width = Math.min(room, start + view.total[node] * scale) - left;
    const colour = fillOf(scene, node);
    if (colour !== fill) context.fillStyle = fill = colour;
    // A gap between neighbours, as long as there is room for one.
    context.fillRect(left, y, width > 3 ? width - 1 : Math.max(width, 0.5), ROW_HEIGHT - 1);
    if (mask && !isDimmed(scene, node) && width >= 2) {
      context.fillStyle = fill = scene.palette.found;
      context.fillRect(left, y + ROW_HEIGHT - 4, Math.max(1, width - 1), 3);
    }
  }
  fill = '';
  for (const node of nodes) {
    if (view.total[node] * scale < NARROWEST_LABEL) continue;
    const [left, right] = edgesOf(scene, node);
    const label = labelOfNode(scene, node, right - left);
    if (label === '') continue;
    const colour = isDimmed(scene, node) ? scene.palette.dimText : scene.palette.text;
    if (colour !== fill) context.fillStyle = fill = colour;
    context.fillText(label, left + LABEL_INDENT, y + ROW_HEIGHT / 2);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {FlameScene} scene
 * @param {number} node
 * @param {number} top
 * @param {string} colour
 * @param {number} thickness
 */
function outline(context, scene, node, top, colour, thickness) {
  const [left, right] = edgesOf(scene, node);
  if (right <= 0 || left >= scene.width) return;
  const y = topOfRow(scene, scene.view.depth[node]) - top;
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  const half = thickness / 2;
  context.strokeRect(left + half, y + half, Math.max(1, right - left - 1 - thickness), ROW_HEIGHT - 1 - thickness);
}

/**
 * All boxes of a scene, for a picture.
 * @param {FlameScene} scene
 * @param {(node: number) => string} titleOf
 * @returns {import('./svg_picture.js').PictureBox[]}
 */
export function boxesOfScene(scene, titleOf) {
  /** @type {import('./svg_picture.js').PictureBox[]} */
  const boxes = restsOfScene(scene).map(({ x, y, width, label, fill }) => ({
    x, y, width, height: ROW_HEIGHT - 1, fill, label, title: REST_LABEL, text: scene.palette.text, found: false,
  }));
  for (let row = 0; row < scene.rows.length; row++) {
    for (const node of scene.rows[row]) {
      const [left, right] = edgesOf(scene, node);
      const width = right - left;
      boxes.push({
        x: left, y: topOfRow(scene, row), width: width > 3 ? width - 1 : Math.max(width, 0.5), height: ROW_HEIGHT - 1,
        fill: fillOf(scene, node), label: labelOfNode(scene, node, width), title: titleOf(node),
        text: isDimmed(scene, node) ? scene.palette.dimText : scene.palette.text,
        found: scene.mask !== null && !isDimmed(scene, node),
      });
    }
  }
  return boxes;
}

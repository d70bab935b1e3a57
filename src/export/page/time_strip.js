// Weight over time as a row of bars, in which a range is dragged.
import { make } from './page_elements.js';
import { paletteOf } from './page_theme.js';
import { bucketAt } from './time_axis.js';

/** A drag of fewer pixels is a click, which takes the range away. */
const LEAST_DRAG = 4;

/**
 * Bars, layer upon layer.
 * @typedef {object} StripColumns
 * @property {number} size buckets of a column
 * @property {{values: Float32Array, colour: string | null}[]} layers null: the colour of strips
 */

export class TimeStrip {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {number} height
   */
  constructor(model, height) {
    this.model = model;
    this.height = height;
    this.canvas = make('canvas', { class: 'time-strip', 'aria-hidden': 'true' });
    this.canvas.style.height = `${height}px`;
    /** @type {StripColumns} */
    this.columns = { size: 1, layers: [] };
    this.highest = 0;
    /** @type {number | null} place where a drag began */
    this.from = null;
    /** @type {[number, number] | null} range that is taken over with the next frame */
    this.pending = null;
    this.canvas.addEventListener('pointerdown', (event) => this.onDown(event));
    this.canvas.addEventListener('pointermove', (event) => this.onDrag(event));
    this.canvas.addEventListener('pointerup', (event) => this.onUp(event));
    this.canvas.addEventListener('pointercancel', () => { this.from = null; });
  }

  /**
   * @param {StripColumns} columns
   * @param {number} highest what a bar of full height stands for
   * @param {number} [width] in pixels, where it is known: to ask for it may cost a layout
   */
  show(columns, highest, width = this.canvas.clientWidth) {
    this.columns = columns;
    this.highest = highest;
    this.draw(width);
  }

  /** @param {number} width */
  draw(width) {
    const context = this.canvas.getContext('2d');
    if (!context || width === 0) return;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== h) this.canvas.height = h;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, this.height);
    const palette = paletteOf(this.model.state);
    const timeline = this.model.profile.timeline;
    const range = this.model.state.range;
    const buckets = timeline ? timeline.buckets : 1;
    const edges = range && timeline ? [(range[0] / buckets) * width, ((range[1] + 1) / buckets) * width] : null;
    /** A bar ends where the next one begins, at a pixel of the screen. @type {(column: number) => number} */
    const placeOf = (column) => Math.round((Math.min(buckets, column * this.columns.size) / buckets) * width * ratio) / ratio;
    const heights = new Float32Array(this.columns.layers[0]?.values.length ?? 0);
    for (const { values, colour } of this.columns.layers) {
      context.fillStyle = colour ?? palette.bar;
      for (let k = 0; k < values.length; k++) {
        if (values[k] === 0) continue;
        const [left, right] = [placeOf(k), placeOf(k + 1)];
        const size = Math.max(heights[k] === 0 ? 1 : 0, (values[k] / this.highest) * (this.height - 2));
        const middle = (left + right) / 2;
        context.globalAlpha = edges && (middle < edges[0] || middle > edges[1]) ? 0.3 : 1;
        context.fillRect(left, this.height - heights[k] - size, Math.max(right - left, 1 / ratio), size);
        heights[k] += size;
      }
    }
    context.globalAlpha = 1;
    if (edges) paintRange(context, palette.range, edges, this.height);
  }

  /**
   * @param {PointerEvent} event
   * @returns {number} fraction of the strip
   */
  partAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  /** @param {PointerEvent} event */
  onDown(event) {
    if (event.button !== 0) return;
    this.from = this.partAt(event);
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  onDrag(event) {
    const timeline = this.model.profile.timeline;
    if (this.from === null || !timeline) return;
    const to = this.partAt(event);
    if (Math.abs(to - this.from) * this.canvas.clientWidth < LEAST_DRAG) return;
    const [low, high] = [Math.min(this.from, to), Math.max(this.from, to)];
    if (this.pending === null) requestAnimationFrame(() => this.takeOver());
    this.pending = [bucketAt(timeline, low), bucketAt(timeline, high)];
  }

  takeOver() {
    const range = this.pending;
    this.pending = null;
    if (range) this.model.update({ range });
  }

  /** @param {PointerEvent} event */
  onUp(event) {
    if (this.from !== null && Math.abs(this.partAt(event) - this.from) * this.canvas.clientWidth < LEAST_DRAG) {
      this.model.update({ range: null });
    }
    this.from = null;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {number[]} edges
 * @param {number} height
 */
function paintRange(context, colour, edges, height) {
  context.fillStyle = colour;
  context.globalAlpha = 0.12;
  context.fillRect(edges[0], 0, edges[1] - edges[0], height);
  context.globalAlpha = 1;
  for (const edge of edges) context.fillRect(Math.max(0, edge - 1), 0, 2, height);
}

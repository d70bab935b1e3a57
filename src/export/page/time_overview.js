// The strip above all views: weight over time, the range that is selected, and what the selection is.
import { bucketsPerColumn, weightColumns } from './sample_filter.js';
import { LIGHT_PALETTE } from './colour_rules.js';
import { afterPicture, make } from './page_elements.js';
import { paletteOf } from './page_theme.js';
import { rangeText, timeMarks } from './time_axis.js';
import { TimeStrip } from './time_strip.js';
import { shownText } from './shown_names.js';

/** Most columns that weights are added up in. */
export const STRIP_COLUMNS = 600;

/**
 * Weights of strips of a width.
 * @param {import('./page_model.js').PageModel} model
 * @param {number} width in pixels
 * @returns {ReturnType<typeof weightColumns>}
 */
export function stripColumns(model, width) {
  const { profile, colouring } = model;
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const size = bucketsPerColumn(timeline, Math.min(STRIP_COLUMNS, Math.max(1, Math.floor(width))));
  const { measure, colour, label } = model.state;
  const others = LIGHT_PALETTE.kinds.length - 1;
  return model.memory.of('columns', [measure, colour, size, label], () => {
    const { fn } = profile.tree;
    const kinds = colouring.kind;
    return weightColumns(profile, measure, size, (node) => kinds[fn[node]] ?? others, label);
  });
}

/**
 * @param {Timeline} timeline
 * @param {number} width in pixels
 * @returns {HTMLElement[]} marks of an axis
 */
export function axisMarks(timeline, width) {
  return timeMarks(timeline.buckets * timeline.width, Math.max(2, width / 90)).map((mark) => {
    // At the end there is no room for a text.
    const element = make('span', {}, (1 - mark.part) * width < 50 ? '' : mark.text);
    element.style.left = `${100 * mark.part}%`;
    return element;
  });
}

export class TimeOverview {
  /** @param {import('./page_model.js').PageModel} model */
  constructor(model) {
    this.model = model;
    /** Whether the first picture of the page is there: reading the rows of the timeline would hold it up. */
    this.ready = false;
    this.strip = new TimeStrip(model, 40);
    this.low = this.handle('Start of the range', 0);
    this.high = this.handle('End of the range', 1);
    this.marks = make('div', { class: 'time-marks', 'aria-hidden': 'true' });
    this.note = make('span', { class: 'time-note' });
    this.clear = make('button', { type: 'button', class: 'small', onclick: () => model.update({ range: null, threads: null, label: '' }) }, 'Show all');
    this.box = make('div', { class: 'time-box' }, this.strip.canvas, this.low, this.high, this.marks);
    this.element = make('section', { class: 'time-overview', 'aria-label': 'Samples over time' },
      this.box,
      make('div', { class: 'time-line' }, this.note, this.clear));
    new ResizeObserver(() => this.refresh()).observe(this.element);
  }

  /**
   * @param {string} label
   * @param {0 | 1} edge
   * @returns {HTMLElement}
   */
  handle(label, edge) {
    return make('div', { class: 'time-handle', role: 'slider', tabindex: 0, 'aria-label': label,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event, edge) });
  }

  /**
   * Lies above lanes that begin and end there.
   * @param {number} left in pixels of the window
   * @param {number} right
   */
  align(left, right) {
    const own = this.element.getBoundingClientRect();
    const style = getComputedStyle(this.element);
    const margins = [left - own.left - parseFloat(style.paddingLeft), own.right - parseFloat(style.paddingRight) - right];
    this.inset(`${margins[0]}px`, `${margins[1]}px`);
  }

  /**
   * @param {string} left
   * @param {string} right
   */
  inset(left, right) {
    if (this.box.style.marginLeft === left && this.box.style.marginRight === right) return;
    this.box.style.marginLeft = left;
    this.box.style.marginRight = right;
    this.refresh();
  }

  refresh() {
    const { timeline, threads } = this.model.profile;
    this.element.hidden = !timeline;
    if (!timeline) return;
    this.showStrip();
    const range = this.model.state.range ?? [0, timeline.buckets - 1];
    this.place(this.low, range[0], range[0] / timeline.buckets, timeline);
    this.place(this.high, range[1], (range[1] + 1) / timeline.buckets, timeline);
    this.marks.replaceChildren(...axisMarks(timeline, this.box.clientWidth));
    this.clear.hidden = !this.model.filtered;
    const chosen = this.model.state.threads;
    const parts = [this.model.state.range ? `Selected: ${rangeText(timeline, this.model.state.range)}` : 'Drag to select a range'];
    if (chosen) parts.push(`${chosen.length} of ${threads.length} threads`);
    if (this.model.state.label !== '') parts.push(shownText(this.model.state.label));
    parts.push(shownText(timeline.resolution));
    this.note.textContent = parts.join(' · ');
  }

  showStrip() {
    if (this.ready) {
      const { all, byKind, size } = stripColumns(this.model, this.strip.canvas.clientWidth);
      const colours = paletteOf(this.model.state).kinds;
      const layers = byKind.flatMap((values, kind) => (values ? [{ values, colour: colours[kind] }] : []));
      this.strip.show({ size, layers }, maximum(all));
      return;
    }
    this.strip.show({ size: 1, layers: [] }, 1);
    afterPicture(() => {
      if (this.ready) return;
      this.ready = true;
      this.showStrip();
    });
  }

  /**
   * @param {HTMLElement} handle
   * @param {number} bucket
   * @param {number} part
   * @param {Timeline} timeline
   */
  place(handle, bucket, part, timeline) {
    handle.style.left = `${100 * part}%`;
    handle.setAttribute('aria-valuemin', '0');
    handle.setAttribute('aria-valuemax', String(timeline.buckets - 1));
    handle.setAttribute('aria-valuenow', String(bucket));
    handle.setAttribute('aria-valuetext', rangeText(timeline, [bucket, bucket]));
  }

  /**
   * @param {KeyboardEvent} event
   * @param {0 | 1} edge
   */
  onKey(event, edge) {
    const timeline = this.model.profile.timeline;
    if (!timeline) return;
    const last = timeline.buckets - 1;
    const step = event.shiftKey || event.key.startsWith('Page') ? Math.max(1, Math.round(timeline.buckets / 10))
      : Math.max(1, Math.round(timeline.buckets / 100));
    const range = /** @type {[number, number]} */ ([...(this.model.state.range ?? [0, last])]);
    if (event.key === 'ArrowLeft' || event.key === 'ArrowDown' || event.key === 'PageDown') range[edge] -= step;
    else if (event.key === 'ArrowRight' || event.key === 'ArrowUp' || event.key === 'PageUp') range[edge] += step;
    else if (event.key === 'Home') range[edge] = edge === 0 ? 0 : range[0];
    else if (event.key === 'End') range[edge] = edge === 0 ? range[1] : last;
    else if (event.key === 'Escape') return this.model.update({ range: null });
    else return;
    event.preventDefault();
    event.stopPropagation();
    range[edge] = edge === 0 ? Math.min(Math.max(0, range[0]), range[1]) : Math.max(Math.min(last, range[1]), range[0]);
    this.model.update({ range: range[0] === 0 && range[1] === last ? null : range });
  }
}

/**
 * @param {Float32Array} values
 * @returns {number} at least a little
 */
export function maximum(values) {
  let most = Number.MIN_VALUE;
  for (const value of values) if (value > most) most = value;
  return most;
}

// A lane for each thread: what it did over time. Scrolling, pointer and keyboard.
import { LANE_GAP, LANE_STATES } from './lane_data.js';
import { LaneDetails, wakerInterval } from './lane_details.js';
import { AXIS_HEIGHT, LANE_COLOURS, LANE_HEIGHT, paintLanes, visibleLanes } from './lane_painter.js';
import { laneRows, nodesOfInterval, stateText } from './lane_rows.js';
import { bucketOfTick, tickOfBucket } from './lane_weights.js';
import { durationText, groupedText, percentText, weightText } from './number_text.js';
import { shortName } from './shown_names.js';
import { announce, make } from './page_elements.js';
import { isDark, paletteOf } from './page_theme.js';
import { threadText } from './thread_table.js';

const WIDE_GUTTER = 210;
const NARROW_GUTTER = 112;
const NARROW = 620;
/** A drag of fewer pixels is a click. */
const LEAST_LANE_DRAG = 4;
const LANE_ZOOM_STEP = 1.6;
const LANE_WHEEL_STEP = 1.0015;
/** Intervals that lie in the pixel of a click are looked through up to so many. */
const MOST_IN_PIXEL = 20000;
/** The table is made anew when nothing has moved for so long. */
const TABLE_REST_MS = 200;

export class LaneView {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {import('./node_details.js').HoverCard} card
   */
  constructor(model, card) {
    this.model = model;
    this.card = card;
    /** @type {import('./lane_rows.js').LaneRow[]} */
    this.rows = [];
    this.row = 0;
    this.focused = false;
    this.waiting = false;
    this.timer = 0;
    /** @type {ImageData | null} */
    this.image = null;
    /** @type {{x: number, moved: boolean} | null} */
    this.drag = null;
    /** How long the latest drawing took: for measurements. */
    this.drawn = { milliseconds: 0, lanes: 0 };
    this.canvas = make('canvas', { class: 'lane-canvas', 'aria-hidden': 'true' });
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d', { alpha: false }));
    this.sizer = make('div', { class: 'lane-sizer' }, this.canvas);
    this.scroller = make('div', { class: 'lane-scroller', tabindex: 0, role: 'group',
      'aria-label': 'Lanes of threads: up and down choose a thread, left and right an interval, w its waker, Enter zooms' }, this.sizer);
    this.details = new LaneDetails(model, { choose: (at) => this.choose(at), zoom: (at) => this.zoomTo(at), close: () => this.choose(-1) });
    this.note = make('span', { class: 'lane-note' });
    this.legend = make('ul', { class: 'legend', 'aria-label': 'Colours' });
    this.table = make('div', { class: 'quiet' });
    this.empty = make('p', { class: 'empty' }, 'This page has no intervals: the recording needs context switches, as docs/waits.md describes.');
    this.content = make('div', { class: 'lane-content' }, this.bar(), make('div', { class: 'lane-body' }, this.scroller, this.details.element), this.table);
    this.element = make('div', { class: 'lane-panel' }, this.empty, this.content);
    this.listen();
  }

  /** @returns {HTMLElement} */
  bar() {
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ press) => make('button',
      { type: 'button', class: 'small', title, 'aria-label': title, onclick: press }, text);
    return make('div', { class: 'lane-bar' }, button('+', 'Closer (+)', () => this.zoom(1 / LANE_ZOOM_STEP)), button('−', 'Farther (−)', () => this.zoom(LANE_ZOOM_STEP)),
      button('All', 'All: the whole recording (Home)', () => this.model.update({ span: null })), this.note, this.legend);
  }

  listen() {
    const { canvas, scroller } = this;
    scroller.addEventListener('scroll', () => this.schedule(), { passive: true });
    scroller.addEventListener('keydown', (event) => this.onKey(event));
    scroller.addEventListener('focus', () => this.setFocused(true));
    scroller.addEventListener('blur', () => this.setFocused(false));
    canvas.addEventListener('pointerdown', (event) => this.onDown(event));
    canvas.addEventListener('pointermove', (event) => this.onMove(event));
    canvas.addEventListener('pointerup', (event) => this.onUp(event));
    canvas.addEventListener('pointercancel', () => { this.drag = null; });
    canvas.addEventListener('pointerleave', () => this.card.hide());
    canvas.addEventListener('dblclick', (event) => this.zoomTo(this.intervalBelow(event)));
    canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    new ResizeObserver(() => this.refresh()).observe(scroller);
  }

  /** @returns {import('./lane_data.js').Lanes | null} */
  get lanes() {
    return this.model.state.view === 'lanes' && this.model.profile.lanes ? this.model.profile.lanes.lanes() : null;
  }

  /** @returns {[number, number]} ticks */
  get span() {
    return this.model.state.span ?? [0, this.model.profile.lanes?.ticks ?? 1];
  }

  /** @param {boolean} focused */
  setFocused(focused) {
    this.focused = focused;
    this.schedule();
  }

  refresh() {
    const { lanes } = this;
    this.empty.hidden = this.model.profile.lanes !== null;
    this.content.hidden = this.model.profile.lanes === null;
    if (!lanes) return;
    if (this.rows.length === 0) {
      this.rows = laneRows(lanes);
      this.row = Math.max(0, this.rows.findIndex((entry) => entry.lane >= 0));
      const at = this.model.state.interval;
      if (at >= 0) this.row = this.rowOf(at);
    }
    this.sizer.style.height = `${AXIS_HEIGHT + this.rows.length * LANE_HEIGHT}px`;
    this.details.refresh(lanes);
    this.showLegend();
    this.draw();
    this.showNote(lanes);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.showTable(), TABLE_REST_MS);
  }

  showLegend() {
    const colours = isDark(this.model.state.theme) ? LANE_COLOURS.dark : LANE_COLOURS.light;
    this.legend.replaceChildren(...LANE_STATES.map((state, k) => {
      const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = colours[k];
      return make('li', {}, swatch, make('span', { class: 'kind' }, state));
    }));
  }

  /** @param {import('./lane_data.js').Lanes} lanes */
  showNote(lanes) {
    const [from, to] = this.span.map((tick) => tick * lanes.tick);
    const fine = lanes.tick > 1 ? ` · times to ${durationText(lanes.tick)}` : '';
    this.note.textContent = `${durationText(to - from)} of ${durationText(lanes.ticks * lanes.tick)} · ${weightText(lanes.threads.length, 'threads')} · `
      + `${groupedText(lanes.count)} intervals${fine}`;
  }

  /** Draws with the next frame. */
  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.showTable(), TABLE_REST_MS);
    });
  }

  /** @returns {import('./lane_painter.js').LaneScene | null} */
  scene() {
    const { lanes, model } = this;
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    if (!lanes || width === 0 || height === 0) return null;
    const { range, interval } = model.state;
    return { lanes, rows: this.rows, span: this.span, width, height, top: this.scroller.scrollTop, gutter: width < NARROW ? NARROW_GUTTER : WIDE_GUTTER,
      dark: isDark(model.state.theme), palette: paletteOf(model.state), interval, row: this.row, focused: this.focused,
      range: range && [tickOfBucket(model.profile, range[0]), tickOfBucket(model.profile, range[1] + 1)] };
  }

  draw() {
    const begin = performance.now();
    const scene = this.scene();
    if (!scene) return;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(scene.width * ratio)), Math.max(1, Math.round(scene.height * ratio))];
    if (this.image?.width !== w || this.image?.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.width = `${scene.width}px`;
      this.canvas.style.height = `${scene.height}px`;
      this.image = this.context.createImageData(w, h);
    }
    paintLanes(this.context, scene, this.image, ratio);
    const [first, last] = visibleLanes(scene);
    this.drawn = { milliseconds: performance.now() - begin, lanes: last - first };
  }

  /** For screen readers: the lanes in sight as a table. */
  showTable() {
    const scene = this.scene();
    if (!scene) return;
    const [first, last] = visibleLanes(scene);
    const [from, to] = scene.span;
    const rows = scene.rows.slice(first, last).filter((entry) => entry.lane >= 0).map((entry) => {
      const sums = scene.lanes.sumsWithin(entry.lane, from, to);
      return make('tr', {}, make('th', { scope: 'row' }, threadText(scene.lanes.threads[entry.lane])),
        ...Array.from(sums, (sum) => make('td', {}, `${durationText(sum * scene.lanes.tick)}, ${percentText(sum, to - from)}`)));
    });
    this.table.replaceChildren(make('table', {}, make('caption', {}, `Time of threads by state, rows ${first + 1} to ${last} of ${scene.rows.length}`),
      make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Thread'), ...LANE_STATES.map((state) => make('th', { scope: 'col' }, state)))),
      make('tbody', {}, ...rows)));
  }

  /**
   * @param {MouseEvent} event
   * @returns {{row: number, tick: number, perPixel: number}} tick below the span: on the names
   */
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const scene = this.scene();
    if (!scene) return { row: -1, tick: -1, perPixel: 1 };
    const [from, to] = scene.span;
    const perPixel = (to - from) / Math.max(1, scene.width - scene.gutter);
    const y = event.clientY - box.top;
    const row = y < AXIS_HEIGHT ? -1 : Math.floor((y - AXIS_HEIGHT + scene.top) / LANE_HEIGHT);
    return { row: row < this.rows.length ? row : -1, tick: from + (event.clientX - box.left - scene.gutter) * perPixel, perPixel };
  }

  /**
   * The longest interval in the pixel below the pointer.
   * @param {MouseEvent} event
   * @returns {number} -1: none
   */
  intervalBelow(event) {
    const { row, tick, perPixel } = this.placeOf(event);
    const lane = row < 0 ? -1 : this.rows[row].lane;
    const { lanes } = this;
    if (!lanes || lane < 0 || tick < this.span[0]) return -1;
    let found = -1;
    let longest = -1;
    const first = lanes.firstAfter(lane, tick - perPixel / 2);
    for (let at = first; at < lanes.first[lane + 1] && at < first + MOST_IN_PIXEL; at++) {
      const start = lanes.startOf(lane, at);
      if (start > tick + perPixel / 2) break;
      if (lanes.state[at] < LANE_GAP && lanes.end[at] - start > longest) {
        longest = lanes.end[at] - start;
        found = at;
      }
    }
    return found;
  }

  /** @param {PointerEvent} event */
  onDown(event) {
    if (event.button !== 0) return;
    this.drag = { x: event.clientX, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    if (!this.drag) return this.hover(event);
    if (Math.abs(event.clientX - this.drag.x) < LEAST_LANE_DRAG && !this.drag.moved) return;
    this.drag.moved = true;
    this.card.hide();
    const from = this.placeOf(/** @type {any} */ ({ clientX: this.drag.x, clientY: event.clientY })).tick;
    const edges = [from, this.placeOf(event).tick].sort((a, b) => a - b).map((tick) => bucketOfTick(this.model.profile, tick));
    this.model.update({ range: [edges[0], edges[1]] });
  }

  /** @param {PointerEvent} event */
  onUp(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    const { row } = this.placeOf(event);
    if (row >= 0 && this.rows[row].lane >= 0) this.row = row;
    this.choose(this.intervalBelow(event));
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const at = event.pointerType === 'touch' ? -1 : this.intervalBelow(event);
    const { lanes } = this;
    if (at < 0 || !lanes) return this.card.hide();
    const { own } = nodesOfInterval(lanes, at);
    const place = own < 1 ? '' : shortName(this.model.profile, this.model.profile.tree.fn[own]);
    const lane = lanes.laneOf(at);
    this.card.show({ name: stateText(lanes, at), place, figures: [['thread', threadText(lanes.threads[lane])],
      ['length', durationText((lanes.end[at] - lanes.startOf(lane, at)) * lanes.tick)]] }, event.clientX, event.clientY);
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(LANE_WHEEL_STEP ** event.deltaY, this.placeOf(event).tick);
      return;
    }
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (Math.abs(sideways) <= Math.abs(event.deltaY) && !event.shiftKey) return;
    event.preventDefault();
    this.pan(sideways * this.placeOf(event).perPixel);
  }

  /**
   * @param {number} factor
   * @param {number} [around] tick that stays where it is
   */
  zoom(factor, around = (this.span[0] + this.span[1]) / 2) {
    const [from, to] = this.span;
    const middle = Math.min(to, Math.max(from, around));
    this.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  /** @param {number} by ticks */
  pan(by) {
    const [from, to] = this.span;
    const ticks = this.model.profile.lanes?.ticks ?? 1;
    const step = Math.min(ticks - to, Math.max(-from, by));
    this.show(from + step, to + step);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  show(from, to) {
    const ticks = this.model.profile.lanes?.ticks ?? 1;
    const least = Math.min(ticks, 10);
    const begin = Math.max(0, Math.min(from, ticks - least));
    const end = Math.min(ticks, Math.max(to, begin + least));
    this.model.update({ span: begin <= 0 && end >= ticks ? null : [begin, end] });
  }

  /** @param {number} at */
  zoomTo(at) {
    const { lanes } = this;
    if (at < 0 || !lanes) return;
    const from = lanes.startOf(lanes.laneOf(at), at);
    const room = Math.max(5, (lanes.end[at] - from) / 4);
    this.show(from - room, lanes.end[at] + room);
  }

  /**
   * @param {number} at
   * @returns {number} row of its lane
   */
  rowOf(at) {
    const lane = this.lanes?.laneOf(at);
    return Math.max(0, this.rows.findIndex((entry) => entry.lane === lane));
  }

  /** @param {number} at an interval, -1: none */
  choose(at) {
    const { lanes } = this;
    if (!lanes) return;
    if (at >= 0) {
      this.row = this.rowOf(at);
      this.keepInSight(lanes, at);
      announce(`${threadText(lanes.threads[lanes.laneOf(at)])}: ${stateText(lanes, at)}, `
        + durationText((lanes.end[at] - lanes.startOf(lanes.laneOf(at), at)) * lanes.tick));
    }
    this.model.update({ interval: at });
    this.schedule();
  }

  /**
   * @param {import('./lane_data.js').Lanes} lanes
   * @param {number} at
   */
  keepInSight(lanes, at) {
    const { scroller } = this;
    const y = this.row * LANE_HEIGHT;
    const room = scroller.clientHeight - AXIS_HEIGHT - LANE_HEIGHT;
    if (y < scroller.scrollTop) scroller.scrollTop = y;
    else if (y > scroller.scrollTop + room) scroller.scrollTop = y - room;
    const [from, to] = this.span;
    const start = lanes.startOf(lanes.laneOf(at), at);
    if (lanes.end[at] >= from && start <= to) return;
    const middle = Math.min(lanes.end[at], start + (to - from) / 2);
    this.pan(middle - (from + to) / 2);
  }

  /**
   * @param {number} by rows
   */
  moveRow(by) {
    const { lanes } = this;
    const { interval } = this.model.state;
    if (!lanes) return;
    const step = by < 0 ? -1 : 1;
    let row = Math.min(this.rows.length - 1, Math.max(0, this.row + by));
    while (this.rows[row] && this.rows[row].lane < 0) row += step;
    if (!this.rows[row]) return;
    const [from, to] = this.span;
    const old = interval < 0 ? [from, to] : [lanes.startOf(lanes.laneOf(interval), interval), lanes.end[interval]];
    const { lane } = this.rows[row];
    const time = Math.min(to, Math.max(from, (old[0] + old[1]) / 2));
    this.choose(Math.min(lanes.firstAfter(lane, time), lanes.first[lane + 1] - 1));
  }

  /** @param {number} by -1 or 1 */
  moveInterval(by) {
    const { lanes } = this;
    const { interval } = this.model.state;
    if (!lanes) return;
    if (interval < 0) return this.moveRow(0);
    const lane = lanes.laneOf(interval);
    for (let at = interval + by; at >= lanes.first[lane] && at < lanes.first[lane + 1]; at += by) {
      if (lanes.state[at] < LANE_GAP) return this.choose(at);
    }
  }

  goToWaker() {
    const { lanes } = this;
    const { interval } = this.model.state;
    const found = lanes && interval >= 0 ? wakerInterval(lanes, interval) : -1;
    if (found >= 0) this.choose(found);
    else announce('No waker is recorded');
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.lanes) return;
    if (!this.actOnKey(event.key, event.shiftKey)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {string} key
   * @param {boolean} shift
   * @returns {boolean} whether it is a key of lanes
   */
  actOnKey(key, shift) {
    const { interval, span } = this.model.state;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / LANE_HEIGHT) - 2);
    const part = (this.span[1] - this.span[0]) / 5;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.moveRow(1), ArrowUp: () => this.moveRow(-1),
      PageDown: () => this.moveRow(page), PageUp: () => this.moveRow(-page),
      ArrowRight: () => (shift ? this.pan(part) : this.moveInterval(1)), ArrowLeft: () => (shift ? this.pan(-part) : this.moveInterval(-1)),
      Enter: () => this.zoomTo(interval), '+': () => this.zoom(1 / LANE_ZOOM_STEP), '-': () => this.zoom(LANE_ZOOM_STEP),
      Home: () => this.model.update({ span: null }),
      w: () => this.goToWaker(),
    };
    if (key === 'Escape' || key === 'Backspace') {
      if (interval >= 0) this.choose(-1);
      else if (span) this.model.update({ span: null });
      else return false;
      return true;
    }
    if (!keys[key]) return false;
    keys[key]();
    return true;
  }
}

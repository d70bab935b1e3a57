// Processes and threads over time: a table with a lane for each, on the axis of the strip above, in which ranges are dragged, and
// with boxes that choose whose samples count. It holds the rows in sight.
import { make } from './page_elements.js';
import { unitName } from './number_text.js';
import { numberCell, spacer } from './function_table.js';
import { threadTotals } from './sample_filter.js';
import { shownText } from './shown_names.js';
import { axisMarks, maximum, stripColumns } from './time_overview.js';
import { TimeStrip } from './time_strip.js';

const LANE_ROW_HEIGHT = 32;
const LANE_STRIP_HEIGHT = 26;
/** Rows beyond the sight that are there, too. */
const SPARE_LANES = 6;

/**
 * @typedef {{name: string, pid: number, threads: number[], weight: number}} ProcessRow
 * @typedef {{text: string, threads: number[], className: string}} TimelineRow
 */

/**
 * Processes by weight, each with its threads by weight.
 * @param {Profile} profile
 * @param {Float64Array} totals by thread
 * @returns {ProcessRow[]}
 */
export function processRows(profile, totals) {
  /** @type {Map<string, ProcessRow>} */
  const processes = new Map();
  profile.threads.forEach((thread, index) => {
    if (totals[index] === 0) return;
    const key = `${thread.pid} ${thread.process}`;
    const row = processes.get(key) ?? { name: thread.process, pid: thread.pid, threads: [], weight: 0 };
    row.threads.push(index);
    row.weight += totals[index];
    processes.set(key, row);
  });
  const rows = Array.from(processes.values());
  for (const row of rows) row.threads.sort((a, b) => totals[b] - totals[a] || a - b);
  return rows.sort((a, b) => b.weight - a.weight || a.pid - b.pid);
}

/**
 * A row for each process, and one for each of its threads where it has several.
 * @param {Profile} profile
 * @param {Float64Array} totals by thread
 * @returns {TimelineRow[]}
 */
export function timelineRows(profile, totals) {
  return processRows(profile, totals).flatMap((process) => {
    const own = { text: processText(profile, process), threads: process.threads, className: 'process' };
    if (process.threads.length === 1) return [own];
    return [own, ...process.threads.map((thread) => ({ text: threadText(profile.threads[thread]), threads: [thread], className: 'thread' }))];
  });
}

export class ThreadTable {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {(left: number, right: number) => void} onPlace where lanes begin and end, in pixels of the window: the strip above lies so, too
   */
  constructor(model, onPlace) {
    this.model = model;
    this.onPlace = onPlace;
    this.waiting = false;
    /** @type {{row: TimelineRow, box: HTMLInputElement, strip: TimeStrip}[]} */
    this.lines = [];
    this.body = make('tbody');
    this.amount = make('th', { scope: 'col', class: 'number' });
    this.marks = make('div', { class: 'time-marks' });
    this.laneHead = make('th', { scope: 'col', class: 'lane' }, make('span', { class: 'quiet' }, 'Over time'), this.marks);
    this.table = make('table', { class: 'threads' }, make('caption', { class: 'quiet' }, 'Processes and threads'),
      make('thead', {}, make('tr', {}, make('th', { scope: 'col', class: 'check' }, make('span', { class: 'quiet' }, 'Counted')),
        make('th', { scope: 'col', class: 'name' }, 'Process and thread'), this.amount, this.laneHead)), this.body);
    this.empty = make('p', { class: 'empty' }, model.profile.sides.length > 1
      ? 'A page of two sides has no timeline. A page of each side alone has one: stackpack export FILE --format html.'
      : 'This file has no times: it holds counts. A timeline needs a file with samples.');
    this.scroller = make('div', { class: 'table-scroller', onscroll: () => this.schedule() }, this.table);
    this.element = make('div', { class: 'table-panel' }, this.empty, this.scroller);
    new ResizeObserver(() => { if (this.scroller.clientHeight > 0) this.refresh(); }).observe(this.scroller);
  }

  /** Shows other rows with the next frame. */
  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.showRows();
    });
  }

  /** @returns {TimelineRow[]} in an order that a range does not change */
  get rows() {
    const { model } = this;
    return model.memory.of('timeline rows', [model.state.measure, model.state.label],
      () => timelineRows(model.profile, threadTotals(model.profile, { ...model.state, range: null })));
  }

  /** @returns {Float64Array} by thread, in the range that is chosen */
  get totals() {
    const { measure, range, label } = this.model.state;
    return this.model.memory.of('thread totals', [measure, range, label], () => threadTotals(this.model.profile, this.model.state));
  }

  refresh() {
    const { profile, measure, state } = this.model;
    if (state.view !== 'timeline') return;
    this.empty.hidden = profile.timeline !== null;
    this.scroller.hidden = profile.timeline === null;
    if (!profile.timeline) return;
    const unit = unitName(measure.unit) || 'samples';
    this.amount.textContent = unit === 'ns' ? 'Time' : unit[0].toUpperCase() + unit.slice(1);
    this.table.setAttribute('aria-rowcount', String(this.rows.length + 1));
    const box = this.laneHead.getBoundingClientRect();
    const style = getComputedStyle(this.laneHead);
    const [left, right] = [box.left + parseFloat(style.paddingLeft), box.right - parseFloat(style.paddingRight)];
    this.laneWidth = right - left;
    this.onPlace(left, right);
    this.marks.replaceChildren(...axisMarks(profile.timeline, this.laneWidth));
    this.showRows();
  }

  /** Fills in the rows that are in sight. */
  showRows() {
    const { rows } = this;
    const { scrollTop, clientHeight } = this.scroller;
    const from = Math.max(0, Math.min(Math.floor(scrollTop / LANE_ROW_HEIGHT), rows.length - 1) - SPARE_LANES);
    const to = Math.min(rows.length, from + Math.ceil((clientHeight || 400) / LANE_ROW_HEIGHT) + 2 * SPARE_LANES);
    const focused = this.lines.find(({ box }) => box === document.activeElement)?.row;
    const known = new Map(this.lines.map((line) => [line.row, line]));
    this.lines = rows.slice(from, to).map((row) => known.get(row) ?? this.line(row));
    const width = this.laneWidth ?? 0;
    const columns = stripColumns(this.model, width);
    const chosen = this.model.state.threads ? new Set(this.model.state.threads) : null;
    this.body.replaceChildren(spacer(from, LANE_ROW_HEIGHT), ...this.lines.map((line) => this.elementOf(line, chosen)),
      spacer(rows.length - to, LANE_ROW_HEIGHT));
    const most = this.model.memory.of('highest lane', [this.model.state.measure, this.model.state.label, columns.size],
      () => rows.reduce((sum, row) => (row.className === 'process' ? Math.max(sum, maximum(sumColumns(columns, row.threads))) : sum), 0));
    for (const { row, strip } of this.lines) {
      strip.show({ size: columns.size, layers: [{ values: sumColumns(columns, row.threads), colour: null }] }, most, width);
    }
    this.lines.find(({ row }) => row === focused)?.box.focus({ preventScroll: true });
  }

  /**
   * @param {TimelineRow} row
   * @returns {{row: TimelineRow, box: HTMLInputElement, strip: TimeStrip}}
   */
  line(row) {
    const box = make('input', { type: 'checkbox', 'aria-label': `count ${row.text}`, onchange: () => this.choose(row.threads, box.checked) });
    return { row, box, strip: new TimeStrip(this.model, LANE_STRIP_HEIGHT) };
  }

  /**
   * @param {{row: TimelineRow, box: HTMLInputElement, strip: TimeStrip}} line
   * @param {Set<number> | null} chosen
   * @returns {HTMLElement}
   */
  elementOf({ row, box, strip }, chosen) {
    const count = chosen ? row.threads.filter((thread) => chosen.has(thread)).length : row.threads.length;
    box.checked = count > 0;
    box.indeterminate = count > 0 && count < row.threads.length;
    const { totals } = this;
    let weight = 0;
    let whole = 0;
    for (const thread of row.threads) weight += totals[thread];
    for (const total of totals) whole += total;
    return make('tr', { class: row.className }, make('td', { class: 'check' }, box),
      make('th', { scope: 'row', class: 'name', title: row.text }, row.text),
      numberCell(weight, whole, this.model.measure.unit), make('td', { class: 'lane' }, strip.canvas));
  }

  /**
   * @param {number[]} threads
   * @param {boolean} wanted
   */
  choose(threads, wanted) {
    const all = this.model.profile.threads.map((_, index) => index);
    const chosen = new Set(this.model.state.threads ?? all);
    for (const thread of threads) {
      if (wanted) chosen.add(thread);
      else chosen.delete(thread);
    }
    const list = all.filter((thread) => chosen.has(thread));
    this.model.update({ threads: list.length === all.length ? null : list });
  }
}

/**
 * @param {{byThread: Float32Array[], all: Float32Array}} columns
 * @param {number[]} threads
 * @returns {Float32Array}
 */
function sumColumns(columns, threads) {
  if (threads.length === 1 && columns.byThread[threads[0]].length > 0) return columns.byThread[threads[0]];
  const sum = new Float32Array(columns.all.length);
  for (const thread of threads) columns.byThread[thread].forEach((value, k) => { sum[k] += value; });
  return sum;
}

/**
 * @param {Profile} profile
 * @param {ProcessRow} process
 * @returns {string}
 */
function processText(profile, process) {
  const pid = process.pid >= 0 ? ` (${process.pid})` : '';
  const name = shownText(process.name) || '(no name)';
  if (process.threads.length > 1) return `${name}${pid}, ${process.threads.length} threads`;
  // A process of one thread is one row: it says what both are called.
  const only = profile.threads[process.threads[0]];
  if (only.tid === process.pid && only.thread === process.name) return name + pid;
  return `${name}${pid}: ${threadText(only)}`;
}

/**
 * @param {Thread} thread
 * @returns {string}
 */
export function threadText(thread) {
  return (shownText(thread.thread) || '(no name)') + (thread.tid >= 0 ? ` (${thread.tid})` : '');
}

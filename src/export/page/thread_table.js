// Processes and threads over time: a table with a strip for each, in which ranges are dragged, and with
// boxes that choose whose samples count.
import { make } from './page_elements.js';
import { groupedText } from './number_text.js';
import { numberCell } from './function_table.js';
import { shownText } from './shown_names.js';
import { maximum, stripColumns } from './time_overview.js';
import { TimeStrip } from './time_strip.js';

/** Threads that are there until more are asked for. */
const SHOWN_THREADS = 150;
const STRIP_HEIGHT = 26;

/**
 * @typedef {{name: string, pid: number, threads: number[], weight: number}} ProcessRow
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

export class ThreadTable {
  /** @param {import('./page_model.js').PageModel} model */
  constructor(model) {
    this.model = model;
    this.limit = SHOWN_THREADS;
    this.made = '';
    /** @type {{strip: TimeStrip, values: Float32Array, size: number, box: HTMLInputElement, threads: number[]}[]} */
    this.lines = [];
    this.body = make('tbody');
    this.more = make('button', { type: 'button', hidden: true, onclick: () => { this.limit += 1000; this.refresh(); } });
    this.table = make('table', { class: 'threads' }, make('caption', { class: 'quiet' }, 'Processes and threads'),
      make('thead', {}, make('tr', {}, make('th', { scope: 'col', class: 'check' }, make('span', { class: 'quiet' }, 'Counted')),
        make('th', { scope: 'col', class: 'name' }, 'Process and thread'), make('th', { scope: 'col', class: 'number' }, 'Samples'),
        make('th', { scope: 'col', class: 'lane' }, 'Over time'))), this.body);
    this.empty = make('p', { class: 'empty' }, model.profile.sides.length > 1
      ? 'A page of two sides has no timeline. A page of each side alone has one: stackpack export FILE --format html.'
      : 'This file has no times: it holds counts. A timeline needs a file with samples.');
    this.scroller = make('div', { class: 'table-scroller' }, this.table, this.more);
    this.element = make('div', { class: 'table-panel' }, this.empty, this.scroller);
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  refresh() {
    const { timeline } = this.model.profile;
    this.empty.hidden = timeline !== null;
    this.scroller.hidden = timeline === null;
    if (!timeline) return;
    const columns = this.stripColumns();
    const key = `${this.model.state.measure} ${this.limit} ${columns.size}`;
    if (key !== this.made) this.build(columns);
    this.made = key;
    const chosen = this.model.state.threads;
    const wanted = chosen ? new Set(chosen) : null;
    for (const { box, threads } of this.lines) {
      const count = wanted ? threads.filter((thread) => wanted.has(thread)).length : threads.length;
      box.checked = count > 0;
      box.indeterminate = count > 0 && count < threads.length;
    }
    this.draw();
  }

  stripColumns() {
    return stripColumns(this.model, 'threads', this.lines[0]?.strip.canvas.clientWidth || this.scroller.clientWidth / 2);
  }

  /** @param {ReturnType<typeof stripColumns>} columns */
  build(columns) {
    this.lines = [];
    const rows = [];
    let left = this.limit;
    for (const process of processRows(this.model.profile, columns.totals)) {
      if (left <= 0) break;
      const whole = columns.totals;
      rows.push(this.row(processText(process), process.threads, whole, sumColumns(columns, process.threads), 'process', columns.size));
      for (const thread of process.threads.slice(0, left)) {
        rows.push(this.row(threadText(this.model.profile.threads[thread]), [thread], whole, columns.byThread[thread], 'thread', columns.size));
      }
      left -= process.threads.length;
    }
    this.body.replaceChildren(...rows);
    const hiddenThreads = columns.totals.filter((total) => total > 0).length - this.limit;
    this.more.hidden = hiddenThreads <= 0;
    this.more.textContent = `Show more: ${groupedText(Math.max(0, hiddenThreads))} quieter threads`;
  }

  /**
   * @param {string} text
   * @param {number[]} threads
   * @param {Float64Array} totals
   * @param {Float32Array} values
   * @param {string} className
   * @param {number} size buckets of a column
   * @returns {HTMLElement}
   */
  row(text, threads, totals, values, className, size) {
    const strip = new TimeStrip(this.model, className === 'process' ? STRIP_HEIGHT + 6 : STRIP_HEIGHT);
    const box = make('input', { type: 'checkbox', 'aria-label': `count ${text}`, onchange: () => this.choose(threads, box.checked) });
    this.lines.push({ strip, values, size, box, threads });
    let weight = 0;
    let whole = 0;
    for (const thread of threads) weight += totals[thread];
    for (const total of totals) whole += total;
    return make('tr', { class: className }, make('td', { class: 'check' }, box),
      make('th', { scope: 'row', class: 'name', title: text }, text),
      numberCell(weight, whole, this.model.measure.unit), make('td', { class: 'lane' }, strip.canvas));
  }

  draw() {
    const heights = { process: 0 };
    for (const { values } of this.lines) heights.process = Math.max(heights.process, maximum(values));
    for (const { strip, values, size } of this.lines) strip.show({ size, layers: [{ values, colour: null }] }, heights.process);
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
  const sum = new Float32Array(columns.all.length);
  for (const thread of threads) columns.byThread[thread].forEach((value, k) => { sum[k] += value; });
  return sum;
}

/**
 * @param {ProcessRow} process
 * @returns {string}
 */
function processText(process) {
  const threads = process.threads.length === 1 ? '1 thread' : `${process.threads.length} threads`;
  const pid = process.pid >= 0 ? ` (${process.pid})` : '';
  return `${shownText(process.name) || '(no name)'}${pid}, ${threads}`;
}

/**
 * @param {Thread} thread
 * @returns {string}
 */
export function threadText(thread) {
  return (shownText(thread.thread) || '(no name)') + (thread.tid >= 0 ? ` (${thread.tid})` : '');
}

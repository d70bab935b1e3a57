// The table of functions: a real table that holds the rows in sight.
import { moduleName, shortName, shownName, shownText } from './shown_names.js';
import { make } from './page_elements.js';
import { changeText, groupedText, percentText, plainWeightText, pointsText, unitName, weightText } from './number_text.js';
import { shareChange } from './function_rows.js';
import { isPrinting } from './page_theme.js';
import { changeWays } from './colour_rules.js';

export const TABLE_ROW_HEIGHT = 28;
/** Rows beyond the sight that are there, too, so that quick scrolling shows no gaps. */
const SPARE_ROWS = 8;
/** Rows on paper. */
const PRINTED_ROWS = 200;

/**
 * @typedef {{sort: ViewState['sort'], text: string, className: string}} TableColumn
 */

export class FunctionTableView {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {(fn: number) => void} onOpen
   */
  constructor(model, onOpen) {
    this.model = model;
    this.onOpen = onOpen;
    this.current = 0;
    /** @type {Uint32Array | null} rows that were shown last */
    this.shown = null;
    this.head = make('tr', { 'aria-rowindex': 1 });
    this.body = make('tbody', { onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) });
    this.caption = make('caption', { class: 'quiet' });
    this.table = make('table', { class: model.profile.sides.length > 1 ? 'functions compared' : 'functions' }, this.caption, make('thead', {}, this.head), this.body);
    this.scroller = make('div', { class: 'table-scroller', onscroll: () => this.showRows() }, this.table);
    this.empty = make('p', { class: 'empty', hidden: true });
    this.element = make('div', { class: 'table-panel' }, this.empty, this.scroller);
    new ResizeObserver(() => { if (this.scroller.clientHeight > 0) this.showRows(); }).observe(this.scroller);
  }

  /** @returns {TableColumn[]} */
  get columns() {
    /** @type {TableColumn[]} */
    const columns = [
      { sort: 'name', text: 'Function', className: 'name' },
      { sort: 'module', text: 'Module', className: 'module' },
      { sort: 'self', text: 'Self', className: 'number' },
      { sort: 'total', text: 'Total', className: 'number' },
    ];
    if (this.model.profile.sides.length > 1) {
      columns.push({ sort: 'change-self', text: 'Change of self', className: 'number change of-self' },
        { sort: 'change', text: 'Change of total', className: 'number change' });
    }
    if (this.model.profile.diff) columns.push({ sort: 'verdict', text: 'Verdict', className: 'verdict' });
    return columns;
  }

  refresh() {
    const { rows, state, measure } = this.model;
    this.head.replaceChildren(...this.columns.map((column) => this.headCell(column)));
    this.caption.textContent = `${groupedText(rows.length)} functions, in ${unitName(measure.unit) || 'samples'} of ${shownText(measure.name)}` +
      (isPrinting() && rows.length > PRINTED_ROWS ? `; the first ${PRINTED_ROWS} of them` : '');
    this.table.setAttribute('aria-rowcount', String(rows.length + 1));
    this.empty.hidden = rows.length > 0;
    this.scroller.hidden = rows.length === 0;
    this.empty.textContent = state.query === '' ? 'No samples are selected.' : 'The search finds no function that has samples.';
    if (rows !== this.shown) {
      // The row that was chosen stays chosen and in sight, when it is still there.
      const chosen = this.shown?.[this.current];
      const place = chosen === undefined || this.current === 0 ? -1 : rows.indexOf(chosen);
      this.shown = rows;
      this.current = Math.max(0, place);
      this.scroller.scrollTop = Math.max(0, this.current - SPARE_ROWS) * TABLE_ROW_HEIGHT;
    }
    this.showRows();
  }

  /**
   * @param {TableColumn} column
   * @returns {HTMLElement}
   */
  headCell(column) {
    const { sort, ascending } = this.model.state;
    const active = sort === column.sort;
    const byText = column.sort === 'name' || column.sort === 'module' || column.sort === 'verdict';
    const rising = byText ? !ascending : ascending;
    const button = make('button', { type: 'button', onclick: () => {
      this.model.update(active ? { ascending: !ascending } : { sort: column.sort, ascending: false });
    } }, column.text, make('span', { class: 'sort-mark', 'aria-hidden': 'true' }, active ? (rising ? ' ▲' : ' ▼') : ''));
    return make('th', {
      scope: 'col', class: column.className, 'aria-sort': active ? (rising ? 'ascending' : 'descending') : 'none',
    }, button);
  }

  /** Fills in the rows that are in sight. */
  showRows() {
    const rows = this.model.rows;
    const top = Math.max(0, Math.min(this.scroller.scrollTop, rows.length * TABLE_ROW_HEIGHT) - TABLE_ROW_HEIGHT);
    const from = isPrinting() ? 0 : Math.max(0, Math.floor(top / TABLE_ROW_HEIGHT) - SPARE_ROWS);
    const seen = isPrinting() ? PRINTED_ROWS : Math.ceil((this.scroller.clientHeight || 400) / TABLE_ROW_HEIGHT) + 2 * SPARE_ROWS;
    const to = Math.min(rows.length, from + seen);
    const hadFocus = this.body.contains(document.activeElement);
    const shown = [];
    for (let place = from; place < to; place++) shown.push(this.row(rows[place], place));
    this.body.replaceChildren(spacer(from), ...shown, spacer(rows.length - to));
    if (hadFocus) this.buttonAt(this.current)?.focus({ preventScroll: true });
    else if (this.current < from || this.current >= to) this.setCurrent(Math.min(from + SPARE_ROWS, to - 1));
  }

  /**
   * @param {number} fn
   * @param {number} place
   * @returns {HTMLElement}
   */
  row(fn, place) {
    const { profile, figures, measure } = this.model;
    const name = shortName(profile, fn);
    const button = make('button', {
      type: 'button', class: 'function-name', title: shownName(profile, fn), 'data-place': place,
      tabindex: place === this.current ? 0 : -1, onclick: () => { this.setCurrent(place); this.onOpen(fn); },
    }, name);
    const cells = [
      make('th', { scope: 'row', class: 'name' }, button),
      make('td', { class: 'module', title: moduleName(profile, fn) }, moduleName(profile, fn)),
      numberCell(figures.self[fn], figures.whole[0], measure.unit),
      numberCell(figures.total[fn], figures.whole[0], measure.unit),
    ];
    if (profile.sides.length > 1) cells.push(this.changeCell(fn, 'self'), this.changeCell(fn, 'total'));
    if (profile.diff) cells.push(this.verdictCell(fn));
    return make('tr', { 'aria-rowindex': place + 2, 'data-fn': fn }, ...cells);
  }

  /**
   * @param {number} fn
   * @param {'self' | 'total'} figure
   * @returns {HTMLElement} dim where the comparison does not see a change
   */
  changeCell(fn, figure) {
    const { figures, measure, profile } = this.model;
    const costs = Boolean(profile.diff?.work);
    const change = shareChange(figures, fn, figure, costs);
    const ways = changeWays(profile.diff, fn);
    const seen = change > 0 ? ways.more : change < 0 && ways.less;
    return make('td', { class: `number change of-${figure} ${!seen ? 'unseen' : change > 0 ? 'more' : 'less'}` },
      costs ? changeText(change, measure.unit) : pointsText(change));
  }

  /**
   * @param {number} fn
   * @returns {HTMLElement}
   */
  verdictCell(fn) {
    const row = this.model.findingOf(fn);
    const { unit } = this.model.measure;
    const text = (/** @type {DiffFigure} */ figure) => (this.model.profile.diff?.work ? costText(figure, unit) : findingText(figure));
    const title = row ? `self: ${text(row.self)}\ntotal: ${text(row.total)}` : 'not compared';
    return make('td', { class: 'verdict', title }, this.model.verdictOf(fn));
  }

  /**
   * @param {number} place
   * @returns {HTMLButtonElement | null}
   */
  buttonAt(place) {
    return this.body.querySelector(`button[data-place="${place}"]`);
  }

  /** @param {number} place */
  setCurrent(place) {
    this.buttonAt(this.current)?.setAttribute('tabindex', '-1');
    this.current = Math.max(0, place);
    this.buttonAt(this.current)?.setAttribute('tabindex', '0');
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / TABLE_ROW_HEIGHT) - 2);
    const last = this.model.rows.length - 1;
    /** @type {Record<string, number>} */
    const places = { ArrowDown: this.current + 1, ArrowUp: this.current - 1, PageDown: this.current + page,
      PageUp: this.current - page, Home: 0, End: last };
    if (!(event.key in places) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.goTo(Math.max(0, Math.min(last, places[event.key])));
  }

  /** @param {number} place brings a row into sight and gives it the focus */
  goTo(place) {
    this.setCurrent(place);
    const top = place * TABLE_ROW_HEIGHT;
    const room = this.scroller.clientHeight - 2 * TABLE_ROW_HEIGHT;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
    this.showRows();
    this.setCurrent(place);
    this.buttonAt(place)?.focus({ preventScroll: true });
  }
}

/**
 * @param {DiffFigure} figure
 * @returns {string}
 */
function findingText(figure) {
  return `${figure.verdict}, ${percentText(figure.old_share, 1)} before, ${percentText(figure.new_share, 1)} now, ` +
    `between ${pointsText(figure.low)} and ${pointsText(figure.high)}; visible from ${pointsText(figure.least_visible)}`;
}

/**
 * The same of costs.
 * @param {DiffFigure} figure
 * @param {string} scaledUnit
 * @returns {string}
 */
export function costText(figure, scaledUnit) {
  const unit = unitName(scaledUnit); // figures of rows are in the unit itself
  return `${figure.verdict}, ${weightText(figure.old_share, unit)} before, ${weightText(figure.new_share, unit)} now, ` +
    `between ${changeText(figure.low, unit)} and ${changeText(figure.high, unit)}; visible from ${changeText(figure.least_visible, unit)}`;
}

/**
 * @param {number} weight
 * @param {number} whole
 * @param {string} unit
 * @returns {HTMLElement} number and share, with a bar
 */
export function numberCell(weight, whole, unit) {
  const bar = make('span', { class: 'share-bar', 'aria-hidden': 'true' });
  bar.style.width = `${whole > 0 ? Math.max(0, Math.min(100, (100 * weight) / whole)) : 0}%`;
  const plain = plainWeightText(weight, unit);
  return make('td', { class: 'number' }, bar, make('span', { class: 'weight' }, plain), ' ',
    make('span', { class: 'share' }, percentText(weight, whole)));
}

/**
 * @param {number} rows that it stands for
 * @param {number} [height] of one
 * @returns {HTMLElement}
 */
export function spacer(rows, height = TABLE_ROW_HEIGHT) {
  const cell = make('td');
  cell.style.height = `${rows * height}px`;
  const row = make('tr', { class: 'spacer', 'aria-hidden': 'true' }, cell);
  row.hidden = rows === 0;
  return row;
}

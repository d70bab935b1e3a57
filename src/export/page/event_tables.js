// Tables of what the values of events say (collections, allocations, exceptions, input and output, compiled methods), and of source lines.
import { make } from './page_elements.js';
import { numberCell } from './function_table.js';
import { durationText, groupedText, weightText } from './number_text.js';
import { shownText } from './shown_names.js';

const LINE_COLUMN = 'Line';

/**
 * @param {string | null} cell
 * @param {string} unit of its column; '' where cells are texts
 * @param {string} [name] of the column
 * @returns {string}
 */
export function cellText(cell, unit, name) {
  if (cell === null) return '–';
  if (unit === 'code') return cell.split('\t').map(shownText).join('\t');
  // A number of a line is a name.
  if (unit === '' || name === LINE_COLUMN) return shownText(cell);
  if (unit === 'ns') return durationText(Number(cell));
  return unit === 'bytes' ? weightText(Number(cell), unit) : groupedText(BigInt(cell));
}

/**
 * @param {string} unit
 * @returns {boolean} whether cells are texts
 */
function isText(unit) {
  return unit === '' || unit === 'code';
}

/**
 * Rows by a column: numbers from the largest, texts from A, what is not known last; equal ones stay as they were.
 * @param {EventTable} table
 * @param {number} column
 * @param {boolean} reversed
 * @returns {(string | null)[][]}
 */
export function sortedRows(table, column, reversed) {
  const ofTexts = isText(table.columns[column].unit);
  const compare = (/** @type {string} */ a, /** @type {string} */ b) => {
    if (ofTexts) return a < b ? -1 : a > b ? 1 : 0;
    const [x, y] = [BigInt(a), BigInt(b)];
    return x > y ? -1 : x < y ? 1 : 0;
  };
  return table.rows.slice().sort((rowA, rowB) => {
    const [a, b] = [rowA[column], rowB[column]];
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    return reversed ? compare(b, a) : compare(a, b);
  });
}

/** One table, whose heads sort it. */
class SortedTable {
  /**
   * @param {EventTable} table
   * @param {number} whole what figures of source lines are shares of
   */
  constructor(table, whole) {
    this.table = table;
    this.whole = whole;
    this.column = -1;
    this.reversed = false;
    this.head = make('tr');
    this.body = make('tbody');
    const title = make('caption', {}, shownText(table.title));
    this.ofSource = table.columns.some((column) => column.unit === 'code');
    this.element = make('section', { class: this.ofSource ? 'event-table of-source' : 'event-table' }, make('table', {}, title, make('thead', {}, this.head), this.body));
    if (table.note !== '') this.element.append(make('p', { class: 'event-note' }, shownText(table.note)));
    this.show();
  }

  show() {
    const { columns, rows } = this.table;
    this.head.replaceChildren(...columns.map((column, k) => {
      const active = k === this.column;
      const rising = isText(column.unit) !== this.reversed;
      const button = make('button', { type: 'button', onclick: () => this.sort(k) }, column.name,
        make('span', { class: 'sort-mark', 'aria-hidden': 'true' }, active ? (rising ? ' ▲' : ' ▼') : ''));
      return make('th', { scope: 'col', class: isText(column.unit) ? 'name' : 'number',
        'aria-sort': active ? (rising ? 'ascending' : 'descending') : 'none' }, button);
    }));
    const shown = this.column < 0 ? rows : sortedRows(this.table, this.column, this.reversed);
    this.body.replaceChildren(...shown.map((row) => make('tr', {}, ...row.map((cell, k) => {
      const { name, unit } = columns[k];
      const text = cellText(cell, unit, name);
      if (cell === null && this.ofSource) return make('td', { class: 'number' });
      if (this.ofSource && cell !== null && !isText(unit) && name !== LINE_COLUMN) return numberCell(Number(cell), this.whole, unit);
      if (columns[k].unit === 'code') return make('td', { class: 'name code' }, text);
      return columns[k].unit === '' ? make('td', { class: 'name', title: text }, text) : make('td', { class: 'number' }, text);
    }))));
  }

  /** @param {number} column */
  sort(column) {
    this.reversed = column === this.column && !this.reversed;
    this.column = column;
    this.show();
    this.head.querySelectorAll('button')[column].focus();
  }
}

export class EventTables {
  /**
   * @param {EventTable[]} tables
   * @param {string} label
   * @param {number} [whole] what figures of source lines are shares of
   */
  constructor(tables, label, whole = 0) {
    this.tables = tables;
    this.whole = whole;
    this.element = make('div', { class: 'table-scroller event-tables', tabindex: 0, role: 'region', 'aria-label': label });
    this.made = false;
  }

  /** Tables are made when they are first looked at. */
  refresh() {
    if (this.made) return;
    this.made = true;
    this.element.append(...this.tables.map((table) => new SortedTable(table, this.whole).element));
  }
}

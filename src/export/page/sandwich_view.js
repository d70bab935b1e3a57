// Callers and callees of a function: above it what calls it, below it what it calls, and both as tables.
import { calleeRows, callerRows, ROOT_ROW, SELF_ROW } from './function_rows.js';
import { FlamePanel } from './flame_panel.js';
import { numberCell } from './function_table.js';
import { make } from './page_elements.js';
import { placeText, shareText } from './node_details.js';
import { moduleName, shortName, shownName } from './shown_names.js';

/** Rows of a table of neighbours that are there until more are asked for. */
const SHOWN_NEIGHBOURS = 200;
/** Boxes that were left out as too narrow are worked out when the wheel has rested for so long. */
const REST_MS = 150;

export class SandwichView {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {import('./node_details.js').HoverCard} card
   * @param {(panel: FlamePanel, node: number) => void} onFocus
   */
  constructor(model, card, onFocus) {
    this.model = model;
    /** @type {Record<'callers' | 'callees', {window: [number, number] | null, fine: boolean, timer: number}>} */
    this.zooms = { callers: { window: null, fine: false, timer: 0 }, callees: { window: null, fine: false, timer: 0 } };
    this.name = make('h2', { class: 'middle-name' });
    this.figures = make('p', { class: 'middle-figures' });
    this.callers = this.panel('callers', 'Callers, from the function up', 'up', card, onFocus);
    this.callees = this.panel('callees', 'Callees, from the function down', 'down', card, onFocus);
    this.callerTable = new NeighbourTable('Called by', model);
    this.calleeTable = new NeighbourTable('Calls', model);
    const middle = make('div', { class: 'middle' }, this.name, this.figures);
    const pictures = make('div', { class: 'sandwich-pictures' }, this.callers.element, middle, this.callees.element);
    const tables = make('div', { class: 'sandwich-tables' }, this.callerTable.element, this.calleeTable.element);
    this.content = make('div', { class: 'sandwich-content' }, pictures, tables);
    this.empty = make('p', { class: 'empty' }, 'No samples are selected.');
    this.element = make('div', { class: 'sandwich' }, this.empty, this.content);
  }

  /**
   * @param {'callers' | 'callees'} which
   * @param {string} label
   * @param {'up' | 'down'} direction
   * @param {import('./node_details.js').HoverCard} card
   * @param {(panel: FlamePanel, node: number) => void} onFocus
   * @returns {FlamePanel}
   */
  panel(which, label, direction, card, onFocus) {
    const model = this.model;
    const zoom = this.zooms[which];
    const view = () => {
      if (model.state.fn < 0 || model.state.view !== 'sandwich') return null;
      return zoom.window && zoom.fine ? model.sandwichWithin(which, zoom.window) : model.sandwich[which];
    };
    return new FlamePanel(model, {
      id: which, label, view,
      window: () => {
        const total = view()?.total[0] ?? 0;
        return zoom.window ? [zoom.window[0] * total, zoom.window[1] * total] : [0, total];
      },
      direction: () => direction,
      leafFirst: () => direction === 'up',
      rootText: () => shortName(model.profile, model.state.fn),
      onOpen: (node) => { if (node !== 0) model.update({ fn: /** @type {ViewTree} */ (view()).fn[node] }); },
      onWindow: (window) => this.zoomTo(which, window),
      onLeave: () => {
        if (!zoom.window) return false;
        this.zoomTo(which, null);
        return true;
      },
      onFocus,
    }, card);
  }

  /**
   * @param {'callers' | 'callees'} which
   * @param {[number, number] | null} window fractions
   */
  zoomTo(which, window) {
    const zoom = this.zooms[which];
    clearTimeout(zoom.timer);
    zoom.window = window;
    zoom.fine = false;
    this[which].refresh();
    if (!window) return;
    zoom.timer = setTimeout(() => {
      zoom.fine = true;
      this[which].refresh();
    }, REST_MS);
  }

  refresh() {
    const { model } = this;
    if (model.state.fn < 0 && model.rows.length > 0) {
      model.state = { ...model.state, fn: heaviestFunction(model.figures.self, model.rowOf) };
    }
    const fn = model.state.fn;
    this.content.hidden = fn < 0;
    this.empty.hidden = fn >= 0;
    if (fn < 0) return;
    const { figures, profile } = model;
    this.name.textContent = shortName(profile, fn);
    this.name.title = shownName(profile, fn);
    this.figures.textContent = `${placeText(profile, fn)} · self ${shareText(model, figures.self[fn], model.total)} · ` +
      `total ${shareText(model, figures.total[fn], model.total)}`;
    this.callerTable.show(callerRows(model.treeOf(fn), model.sums, fn), figures.total[fn]);
    this.calleeTable.show(calleeRows(model.treeOf(fn), model.sums, fn), figures.total[fn]);
    for (const zoom of Object.values(this.zooms)) {
      clearTimeout(zoom.timer);
      zoom.window = null;
    }
    for (const panel of [this.callers, this.callees]) {
      const rows = panel.refreshFromRoot();
      // The one with more rows gets more of the height.
      panel.element.style.flexGrow = String(Math.min(30, Math.max(4, rows)));
    }
  }
}

/** What stands directly above or below the function. */
class NeighbourTable {
  /**
   * @param {string} title
   * @param {import('./page_model.js').PageModel} model
   */
  constructor(title, model) {
    this.model = model;
    this.body = make('tbody');
    this.more = make('button', { type: 'button', hidden: true, onclick: () => this.fill(this.rows.length) });
    this.element = make('section', { class: 'neighbours' },
      make('table', {}, make('caption', {}, title),
        make('thead', {}, make('tr', {}, make('th', { scope: 'col', class: 'name' }, 'Function'),
          make('th', { scope: 'col', class: 'number' }, 'Of the function'))), this.body), this.more);
    /** @type {import('./function_rows.js').NeighbourRow[]} */
    this.rows = [];
    this.whole = 0;
  }

  /**
   * @param {import('./function_rows.js').NeighbourRow[]} rows
   * @param {number} whole
   */
  show(rows, whole) {
    this.rows = rows;
    this.whole = whole;
    this.fill(SHOWN_NEIGHBOURS);
  }

  /** @param {number} most rows */
  fill(most) {
    this.body.replaceChildren(...this.rows.slice(0, most).map((row) => this.row(row)));
    this.more.hidden = this.rows.length <= most;
    this.more.textContent = `${this.rows.length - most} more`;
  }

  /**
   * @param {import('./function_rows.js').NeighbourRow} row
   * @returns {HTMLElement}
   */
  row({ fn, weight }) {
    const { profile, measure } = this.model;
    /** @type {Node | string} */
    let name = fn === ROOT_ROW ? '[root]' : '[self]';
    if (fn !== ROOT_ROW && fn !== SELF_ROW) {
      const text = shortName(profile, fn);
      const title = [shownName(profile, fn), moduleName(profile, fn)].filter(Boolean).join(' – ');
      name = make('button', { type: 'button', class: 'function-name', title, onclick: () => this.model.update({ fn }) }, text);
    }
    return make('tr', {}, make('th', { scope: 'row', class: 'name' }, name), numberCell(weight, this.whole, measure.unit));
  }
}

/**
 * @param {Float64Array} self
 * @param {Uint32Array} rowOf
 * @returns {number} function, or -1
 */
function heaviestFunction(self, rowOf) {
  let best = -1;
  for (let fn = 0; fn < self.length; fn++) {
    if (rowOf[fn] === fn && self[fn] > 0 && (best < 0 || self[fn] > self[best])) best = fn;
  }
  return best;
}

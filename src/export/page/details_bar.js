// The bar below: what has the focus, what can be done with it, and what colours mean.
import { make } from './page_elements.js';
import { nodeLine } from './node_details.js';
import { percentText } from './number_text.js';
import { paletteOf } from './page_theme.js';

/**
 * @typedef {{zoom: () => void, sandwich: () => void, copy: () => void}} NodeActions
 */

export class DetailsBar {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {NodeActions} actions
   */
  constructor(model, actions) {
    this.model = model;
    this.line = make('p', { class: 'details-line' });
    this.sandwich = make('button', { type: 'button', class: 'small', title: 's', onclick: actions.sandwich }, 'Callers & callees');
    this.copy = make('button', { type: 'button', class: 'small', title: 'c', onclick: actions.copy }, 'Copy callstack');
    this.legend = make('ul', { class: 'legend', 'aria-label': 'Colours' });
    this.focusRow = make('div', { class: 'details-row' }, this.line, this.sandwich, this.copy);
    this.element = make('footer', { class: 'details' }, this.legend, this.focusRow);
  }

  /**
   * @param {ViewTree} view
   * @param {number} node
   * @param {string} rootText
   */
  show(view, node, rootText) {
    const text = nodeLine(this.model, view, node, rootText);
    this.line.textContent = text;
    this.line.title = text;
  }

  refresh() {
    const { state, colouring, legend } = this.model;
    const graph = state.view === 'flame' || state.view === 'sandwich' || state.view === 'chart';
    this.element.hidden = !graph;
    if (!graph) return;
    const palette = paletteOf(state);
    const colours = colouring.by === 'change' ? palette.changes : palette.kinds;
    const whole = this.model.total;
    this.legend.replaceChildren(...legend.map((entry) => {
      const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = colours[entry.kind];
      const share = entry.weight >= 0 ? ` ${percentText(entry.weight, whole)}` : '';
      return make('li', { title: entry.text }, swatch, make('span', { class: 'kind' }, entry.text), make('span', { class: 'share' }, share));
    }));
  }
}

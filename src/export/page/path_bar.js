// Where the flame graph is: the functions from the root to the node zoomed to, each a button.
import { make } from './page_elements.js';
import { shownForms, shownName } from './shown_names.js';

/** Functions of the path that are shown at each end of a long one. */
const SHOWN_ENDS = 24;
const LONGEST_STEP = 48;

export class PathBar {
  /** @param {import('./page_model.js').PageModel} model */
  constructor(model) {
    this.model = model;
    this.list = make('ol', {});
    this.element = make('nav', { class: 'path-bar', 'aria-label': 'Path of the zoom' }, this.list);
  }

  refresh() {
    const { zoom, window } = this.model.state;
    // Its room stays: the graph below must not move when it comes.
    this.element.hidden = this.model.state.view !== 'flame';
    this.element.classList.toggle('unused', zoom.length === 0 && window === null);
    if (zoom.length === 0 && window === null) {
      this.list.replaceChildren(make('li', {}, 'Click a box to zoom to it'));
      return;
    }
    const steps = [this.step('all', 'everything', 0)];
    for (let k = 1; k <= zoom.length; k++) {
      if (k > SHOWN_ENDS && k <= zoom.length - SHOWN_ENDS) {
        if (k === SHOWN_ENDS + 1) steps.push(make('li', { class: 'path-gap' }, `… ${zoom.length - 2 * SHOWN_ENDS} more …`));
        continue;
      }
      const { profile } = this.model;
      steps.push(this.step(stepText(shownForms(profile, zoom[k - 1])), shownName(profile, zoom[k - 1]), k));
    }
    if (window) steps.push(make('li', { class: 'path-gap' }, 'a part of it'));
    this.list.replaceChildren(...steps);
    requestAnimationFrame(() => { this.element.scrollLeft = this.element.scrollWidth; });
  }

  /**
   * @param {string} text
   * @param {string} title
   * @param {number} length of the path that it leads to
   * @returns {HTMLElement}
   */
  step(text, title, length) {
    const { zoom, window } = this.model.state;
    const last = length === zoom.length && !window;
    const button = make('button', {
      type: 'button', title, ...(last ? { 'aria-current': 'location' } : {}),
      onclick: () => this.model.update({ zoom: this.model.state.zoom.slice(0, length), window: null }),
    }, text);
    return make('li', {}, button);
  }
}

/**
 * @param {string[]} forms ever shorter
 * @returns {string} one that leaves room for others
 */
function stepText(forms) {
  const form = forms.find((text) => text.length <= LONGEST_STEP) ?? forms[forms.length - 1];
  return form.length > LONGEST_STEP ? form.slice(0, LONGEST_STEP - 1) + '…' : form;
}

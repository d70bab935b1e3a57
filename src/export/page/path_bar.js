// Where the flame graph is: the functions from the root to the node zoomed to, each a button.
import { make } from './page_elements.js';
import { shownForms, shownName } from './shown_names.js';

/** Functions at the end of a path that are shown where there is room. */
const SHOWN_ENDS = 24;
/** What the sign for those that are left out takes, in pixels. */
const GAP_ROOM = 110;
const LONGEST_TITLE = 4000;
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
    this.showSteps(Math.min(SHOWN_ENDS, zoom.length));
  }

  /**
   * What has no room is left out in the middle: where it begins and ends is always there.
   * @param {number} most functions at the end
   */
  showSteps(most) {
    const { zoom, window } = this.model.state;
    const { profile } = this.model;
    const steps = [];
    for (let k = 1; k <= zoom.length; k++) {
      if (k > zoom.length - most) steps.push(this.step(stepText(shownForms(profile, zoom[k - 1])), shownName(profile, zoom[k - 1]), k));
    }
    const end = window ? [make('li', { class: 'path-gap' }, 'a part of it')] : [];
    this.list.replaceChildren(this.step('all', 'everything', 0), ...steps, ...end);
    // Widths are asked for once: each step knows whether it has room.
    const widths = steps.map((step) => step.offsetWidth);
    const others = this.list.scrollWidth - widths.reduce((sum, width) => sum + width, 0) + GAP_ROOM;
    const style = getComputedStyle(this.element);
    const room = this.element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - others;
    const all = widths.reduce((sum, width) => sum + width, 0);
    let left = all - GAP_ROOM > room ? room : all;
    let first = steps.length;
    while (first > 0 && (first === steps.length || left >= widths[first - 1])) left -= widths[--first];
    const hidden = zoom.length - steps.length + first;
    if (hidden === 0) return;
    for (const step of steps.slice(0, first)) step.remove();
    const names = zoom.slice(0, hidden).map((fn) => shownName(profile, fn)).join('\n');
    this.list.children[0].after(make('li', { class: 'path-gap', title: names.slice(0, LONGEST_TITLE) }, `… ${hidden} more …`));
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

// Tabs of the views, choices and actions.
import { make, makeChoice, makeToggle } from './page_elements.js';
import { unitName } from './number_text.js';
import { shownText } from './shown_names.js';
import { FilterBar, labelField, threadField } from './filter_bar.js';
import { hasModules, hasView } from './view_link.js';

/** @type {[ViewState['view'], string][]} */
export const VIEW_TABS = [
  ['flame', 'Flame graph'], ['sandwich', 'Callers & callees'], ['functions', 'Functions'], ['timeline', 'Timeline'], ['lanes', 'Lanes'],
  ['events', 'Events'], ['source', 'Source'], ['chart', 'Flame chart'],
];

export class ViewTabs {
  /** @param {import('./page_model.js').PageModel} model */
  constructor(model) {
    this.model = model;
    this.tabs = VIEW_TABS.map(([view, text]) => make('button', {
      type: 'button', role: 'tab', id: `tab-${view}`, 'aria-controls': `panel-${view}`, onclick: () => model.update({ view }),
    }, text));
    VIEW_TABS.forEach(([view], k) => { this.tabs[k].hidden = !hasView(model.profile, view); });
    const many = this.tabs.filter((tab) => !tab.hidden).length > 4;
    this.element = make('div', { class: many ? 'tabs many' : 'tabs', role: 'tablist', 'aria-label': 'Views',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) }, ...this.tabs);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const shown = VIEW_TABS.map((_, k) => k).filter((k) => !this.tabs[k].hidden);
    const place = shown.findIndex((k) => VIEW_TABS[k][0] === this.model.state.view);
    const count = shown.length;
    /** @type {Record<string, number>} */
    const places = { ArrowRight: (place + 1) % count, ArrowLeft: (place + count - 1) % count, Home: 0, End: count - 1 };
    if (!(event.key in places)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = shown[places[event.key]];
    this.model.update({ view: VIEW_TABS[next][0] });
    this.tabs[next].focus();
  }

  refresh() {
    VIEW_TABS.forEach(([view], k) => {
      const active = view === this.model.state.view;
      this.tabs[k].setAttribute('aria-selected', String(active));
      this.tabs[k].tabIndex = active ? 0 : -1;
    });
  }
}

/**
 * What the buttons do besides changing the state.
 * @typedef {{saveSvg: () => void, savePng: () => void}} PageActions
 */

export class Toolbar {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {PageActions} actions
   */
  constructor(model, actions) {
    this.model = model;
    const { profile } = model;
    this.measure = makeChoice('Count', profile.measures.map((measure, k) => [String(k), measureText(measure)]),
      (value) => model.update({ measure: Number(value) }));
    this.side = makeChoice('Side', profile.sides.map((side, k) => [String(k), shownText(side)]),
      (value) => model.update({ side: Number(value), zoom: [], window: null }));
    const colours = [['module', 'module'], ['function', 'function'], ['mode', 'kind of code']];
    if (!hasModules(profile)) colours.shift();
    if (profile.sides.length > 1) colours.unshift(['change', 'change']);
    this.colour = makeChoice('Colour by', colours, (value) => model.update({ colour: /** @type {any} */ (value) }));
    this.root = makeChoice('Begin with', [['none', 'functions'], ['process', 'processes'], ['thread', 'threads']],
      (value) => model.update({ root: /** @type {any} */ (value), zoom: [], window: null }));
    this.hasRoots = profile.timeline !== null && profile.sides.length < 2 && profile.threads.length > 1;
    const fields = [...(this.hasRoots ? [threadField(model)] : []), ...(profile.labels.length > 0 ? [labelField(model)] : [])];
    this.filter = new FilterBar(model, fields);
    this.measure.field.hidden = profile.measures.length < 2;
    this.side.field.hidden = profile.sides.length < 2;
    this.direction = makeToggle('Root at bottom', 'Flame graph instead of icicle (d)', () => flip(model, 'd'));
    this.inverted = makeToggle('Leaf first', 'Callstacks from their leaves (i)', () => flip(model, 'i'));
    this.merged = makeToggle('Merge recursion', 'A function that calls itself directly is one box (m)', () => flip(model, 'm'));
    this.svg = makeAction('SVG', 'Save what is seen as SVG', actions.saveSvg);
    this.png = makeAction('PNG', 'Save what is seen as PNG', actions.savePng);
    this.element = make('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'What is shown, and how' },
      this.measure.field, this.side.field, this.root.field, this.colour.field, this.direction, this.inverted, this.merged, this.filter.element,
      make('span', { class: 'space' }), this.svg, this.png);
  }

  refresh() {
    const { state } = this.model;
    this.measure.select.value = String(state.measure);
    this.side.select.value = String(state.side);
    this.colour.select.value = state.colour;
    this.root.select.value = state.root;
    this.direction.setAttribute('aria-pressed', String(state.direction === 'up'));
    this.inverted.setAttribute('aria-pressed', String(state.inverted));
    this.merged.setAttribute('aria-pressed', String(state.merged));
    const flame = state.view === 'flame';
    const graph = flame || state.view === 'sandwich' || state.view === 'chart';
    this.direction.hidden = this.inverted.hidden = !flame;
    this.root.field.hidden = !flame || !this.hasRoots;
    this.merged.hidden = !graph || state.view === 'chart';
    this.colour.field.hidden = this.svg.hidden = this.png.hidden = !graph;
    this.filter.element.hidden = this.filter.fields.length === 0 || !(graph || state.view === 'functions');
    if (!this.filter.element.hidden) this.filter.refresh();
    this.element.hidden = !graph && this.filter.element.hidden && this.measure.field.hidden && this.side.field.hidden;
  }
}

/**
 * @param {string} text
 * @param {string} title
 * @param {() => void} onPress
 * @returns {HTMLButtonElement}
 */
function makeAction(text, title, onPress) {
  return make('button', { type: 'button', class: 'action', title, onclick: onPress }, text);
}

/**
 * @param {Measure} measure
 * @returns {string}
 */
function measureText(measure) {
  const name = shownText(measure.name);
  const own = unitName(measure.unit);
  const unit = own === 'ns' ? 'time' : own;
  return unit && !name.includes(unit) ? `${name} (${unit})` : name;
}

/**
 * What the keys of single letters change.
 * @param {import('./page_model.js').PageModel} model
 * @param {string} key
 * @returns {boolean} whether the key is one of them
 */
export function flip(model, key) {
  const { state } = model;
  if (key === 'd') model.update({ direction: state.direction === 'up' ? 'down' : 'up' });
  else if (key === 'i') model.update({ inverted: !state.inverted, zoom: [], window: null });
  else if (key === 'm') model.update({ merged: !state.merged, zoom: [], window: null });
  else if (key === 'o') model.update({ colour: nextColour(model) });
  else if (key === 't') model.update({ theme: nextTheme(state.theme) });
  else return false;
  return true;
}

/**
 * @param {import('./page_model.js').PageModel} model
 * @returns {ViewState['colour']}
 */
function nextColour(model) {
  /** @type {ViewState['colour'][]} */
  const colours = ['function', 'mode'];
  if (hasModules(model.profile)) colours.unshift('module');
  if (model.profile.sides.length > 1) colours.unshift('change');
  return colours[(colours.indexOf(model.state.colour) + 1) % colours.length];
}

/**
 * @param {ViewState['theme']} theme
 * @returns {ViewState['theme']}
 */
export function nextTheme(theme) {
  return theme === 'auto' ? 'dark' : theme === 'dark' ? 'light' : 'auto';
}

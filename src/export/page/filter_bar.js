// Which samples count: one list of what they can be chosen by, and what is chosen. A field is a part of the state.
import { make } from './page_elements.js';
import { labelTotals, threadTotals } from './sample_filter.js';
import { processRows, threadText } from './thread_table.js';
import { shownText } from './shown_names.js';

/** Choices of a group, the heaviest. */
const MOST_CHOICES = 150;

/**
 * @typedef {{text: string, patch: Partial<ViewState>}} FilterChoice
 *
 * @typedef {object} FilterField
 * @property {(state: ViewState) => string} textOf what is chosen, '' where nothing is
 * @property {Partial<ViewState>} clear
 * @property {() => {title: string, choices: FilterChoice[]}[]} groups asked for when one looks at them
 */

/**
 * Processes, all those of one name, and threads.
 * @param {import('./page_model.js').PageModel} model with a timeline
 * @returns {FilterField}
 */
export function threadField(model) {
  const { profile } = model;
  const groups = () => {
    const processes = processRows(profile, threadTotals(profile, { ...model.state, range: null, label: '' }));
    const several = processes.flatMap(({ threads }) => (threads.length > 1 ? threads : []));
    return [
      { title: 'Processes of a name', choices: namedChoices(processes) },
      { title: 'Processes', choices: processes.slice(0, MOST_CHOICES).map((process) => threadChoice(ownText(process.name, process.pid), process.threads)) },
      { title: 'Threads', choices: several.slice(0, MOST_CHOICES).map((thread) => threadChoice(threadText(profile.threads[thread]), [thread])) },
    ];
  };
  /** @param {ViewState} state */
  const textOf = ({ threads }) => {
    if (!threads) return '';
    const chosen = JSON.stringify(threads);
    const known = groups().flatMap(({ choices }) => choices).find(({ patch }) => JSON.stringify(patch.threads) === chosen);
    return known ? known.text : `${threads.length} of ${profile.threads.length} threads`;
  };
  return { textOf, clear: { threads: null }, groups };
}

/**
 * What samples are labelled with.
 * @param {import('./page_model.js').PageModel} model with labels
 * @returns {FilterField}
 */
export function labelField(model) {
  const groups = () => labelTotals(model.profile, model.state.measure).map(({ key, values }) => ({
    title: `Label ${shownText(key)}`, choices: values.slice(0, MOST_CHOICES).map(({ value }) => ({ text: shownText(value) || '(empty)', patch: { label: `${key}=${value}` } })),
  }));
  return { textOf: ({ label }) => shownText(label), clear: { label: '' }, groups };
}

/**
 * @param {import('./thread_table.js').ProcessRow[]} processes
 * @returns {FilterChoice[]} names that several processes have
 */
function namedChoices(processes) {
  /** @type {Map<string, import('./thread_table.js').ProcessRow[]>} */
  const named = new Map();
  for (const process of processes) named.set(process.name, [...named.get(process.name) ?? [], process]);
  return Array.from(named).filter(([, members]) => members.length > 1).slice(0, MOST_CHOICES)
    .map(([name, members]) => threadChoice(`${ownText(name, -1)}, ${members.length} processes`, members.flatMap(({ threads }) => threads)));
}

/**
 * @param {string} text
 * @param {number[]} threads
 * @returns {FilterChoice}
 */
function threadChoice(text, threads) {
  return { text, patch: { threads: threads.slice().sort((a, b) => a - b) } };
}

/**
 * @param {string} name
 * @param {number} id -1: none
 * @returns {string}
 */
function ownText(name, id) {
  return (shownText(name) || '(no name)') + (id >= 0 ? ` (${id})` : '');
}

export class FilterBar {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {FilterField[]} fields
   */
  constructor(model, fields) {
    this.model = model;
    this.fields = fields;
    /** What was chosen when it was shown last. */
    this.shown = '';
    /** @type {FilterChoice[]} */
    this.choices = [];
    this.select = make('select', { onchange: () => this.choose(), onfocus: () => this.fill(), onpointerdown: () => this.fill() },
      make('option', { value: '' }, 'all'));
    this.field = make('label', { class: 'choice' }, make('span', {}, 'Only'), this.select);
    this.chosen = make('span', { class: 'filters' });
    this.element = make('span', { class: 'filter-bar' }, this.field, this.chosen);
  }

  /** Lists what there is when it is first looked at: that may be thousands of threads. */
  fill() {
    if (this.choices.length > 0) return;
    const groups = this.fields.flatMap((field) => field.groups()).filter(({ choices }) => choices.length > 0);
    this.choices = groups.flatMap(({ choices }) => choices);
    this.select.append(...groups.map(({ title, choices }) => {
      const group = make('optgroup', { label: title });
      group.append(...choices.map((choice) => make('option', { value: this.choices.indexOf(choice) }, choice.text)));
      return group;
    }));
  }

  choose() {
    const choice = this.select.value === '' ? null : this.choices[Number(this.select.value)];
    this.model.update(choice ? choice.patch : Object.assign({}, ...this.fields.map((field) => field.clear)));
  }

  refresh() {
    const { state } = this.model;
    const key = JSON.stringify(this.fields.map((field) => Object.keys(field.clear).map((name) => /** @type {any} */ (state)[name])));
    if (key === this.shown) return;
    this.shown = key;
    this.select.value = '';
    this.chosen.replaceChildren(...this.fields.flatMap((field) => {
      const text = field.textOf(state);
      return text === '' ? [] : [make('button', { type: 'button', class: 'small filter', title: 'Take this filter away', 'aria-label': `without the filter ${text}`,
        onclick: () => this.model.update(field.clear) }, `${text} ×`)];
    }));
  }
}

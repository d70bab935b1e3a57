// What the capture is and lacks, and which keys do what.
import { make } from './page_elements.js';
import { groupedText, weightText } from './number_text.js';
import { shownText } from './shown_names.js';

/** Keys besides those of the tabs, and what they do; docs/page.md says the same. */
export const KEYS = [
  ['/', 'search; Enter leads to what was found'],
  ['Arrows', 'in a graph: to callers, callees and neighbours; in a table: to other rows'],
  ['Enter', 'zoom to the box; in the table: callers and callees of the function'],
  ['Esc or Backspace', 'takes the selection away; without one, one step out'],
  ['+ −', 'closer, farther; also Ctrl and the wheel'],
  ['Shift ← →', 'move what is shown; also the wheel sideways'],
  ['Home', 'to the root, or the first row'],
  ['w', 'in lanes: what the waker did that ended the wait'],
  ['s', 'callers and callees of the function with the focus'],
  ['c', 'copy the callstack as text'],
  ['l', 'copy a link to this view'],
  ['i', 'leaf first: inverted'],
  ['m', 'merge direct recursion'],
  ['d', 'root at the top or at the bottom'],
  ['o', 'other colours'],
  ['t', 'light, dark, or as the system has it'],
  ['?', 'this help'],
];

/**
 * @param {string} title
 * @param {...Node} content
 * @returns {HTMLDialogElement}
 */
function makeDialog(title, ...content) {
  const id = `dialog-${title.toLowerCase().replaceAll(' ', '-')}`;
  const close = make('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, '×');
  const dialog = make('dialog', { 'aria-labelledby': id },
    make('div', { class: 'dialog-head' }, make('h2', { id }, title), close),
    make('div', { class: 'dialog-body', tabindex: 0, role: 'region', 'aria-labelledby': id }, ...content));
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  return dialog;
}

/**
 * @param {string[][]} tabs key and what it shows
 * @returns {HTMLDialogElement}
 */
export function makeHelpDialog(tabs) {
  const views = [tabs.map(([key]) => key).join(' '), tabs.map(([, text]) => text.toLowerCase()).join(', ')];
  const rows = [views, ...KEYS].map(([keys, text]) => make('tr', {},
    make('th', { scope: 'row' }, ...keys.split(' ').map((key) => (key === 'or' ? ' or ' : make('kbd', {}, key)))),
    make('td', {}, text)));
  return makeDialog('Keys', make('table', { class: 'keys' }, make('tbody', {}, ...rows)),
    make('p', {}, 'Boxes narrower than half a pixel are not drawn; zooming shows them. The width of a box is its share of what is selected.'));
}

/**
 * @param {Profile} profile
 * @returns {HTMLDialogElement}
 */
export function makeAboutDialog(profile) {
  const facts = profile.facts.filter((fact) => !isMeasured(profile, fact)).map((fact) => make('tr', {},
    make('th', { scope: 'row' }, shownText(fact.label)), make('td', {}, shownText(fact.value))));
  /** @type {Map<string, string[]>} */
  const totals = new Map();
  for (const measure of profile.measures) {
    totals.set(measure.name, [...totals.get(measure.name) ?? [], weightText(measure.total, measure.unit)]);
  }
  const measures = Array.from(totals, ([name, texts]) => make('tr', {},
    make('th', { scope: 'row' }, shownText(name)), make('td', {}, texts.join(', '))));
  const content = [
    make('table', {}, make('tbody', {}, ...facts, ...measures)),
    make('h3', {}, 'Losses and remarks'), lossList(profile),
  ];
  for (const note of profile.diff?.notes ?? []) content.push(make('p', {}, shownText(note)));
  if (!profile.exact) content.push(make('p', {}, 'Some sums are beyond 2⁵³ and rounded.'));
  return makeDialog('About this capture', ...content);
}

/**
 * @param {Profile} profile
 * @param {Fact} fact
 * @returns {boolean} whether a measure says the same
 */
function isMeasured(profile, fact) {
  return profile.measures.some(({ unit, total }) => fact.label.toLowerCase() === unit && fact.value === String(total));
}

/**
 * @param {Profile} profile
 * @returns {HTMLElement}
 */
function lossList(profile) {
  if (profile.losses.length === 0) return make('p', {}, 'None are known.');
  return make('table', {}, make('tbody', {}, ...profile.losses.map((loss) => make('tr', {},
    make('td', { class: 'number' }, groupedText(loss.count)), make('th', { scope: 'row', title: shownText(loss.name) }, shownText(loss.text || loss.name))))));
}

/**
 * The line that says what is missing.
 * @param {Profile} profile
 * @param {() => void} onDetails
 * @returns {HTMLElement}
 */
export function makeLossLine(profile, onDetails) {
  const losses = profile.losses.filter((loss) => !loss.remark);
  const shown = losses.slice(0, 3).map(lossText);
  const more = profile.losses.length - shown.length;
  if (more > 0) shown.push(`and ${more} more`);
  const line = make('div', { class: 'loss-line', role: 'note' },
    make('strong', {}, 'Incomplete capture'), ` ${shown.join(' · ')} `,
    make('button', { type: 'button', class: 'small', onclick: onDetails }, 'Details'));
  line.hidden = losses.length === 0;
  return line;
}

/**
 * Remarks take nothing away from the picture: they have no line of their own.
 * @param {Profile} profile
 * @param {() => void} onDetails
 * @returns {HTMLElement}
 */
export function makeRemarkButton(profile, onDetails) {
  const remarks = profile.losses.every((loss) => loss.remark) ? profile.losses : [];
  const button = make('button', { type: 'button', class: 'remarks', title: remarks.map(lossText).join('\n'), onclick: onDetails },
    remarks.length === 1 ? '1 remark' : `${remarks.length} remarks`);
  button.hidden = remarks.length === 0;
  return button;
}

/** @param {Loss} loss */
function lossText(loss) {
  return `${shownText(loss.text || loss.name).slice(0, 160)}: ${groupedText(loss.count)}`;
}

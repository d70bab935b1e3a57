// What is said of a node or function: on hover, in the bar below, to screen readers, in pictures.
import { CHANGE_TEXTS, changeStep, changeWays, modeText, NO_CHANGE, nodeShares } from './colour_rules.js';
import { make } from './page_elements.js';
import { changeText, percentText, pointsText, weightText } from './number_text.js';
import { moduleName, shownName, shownText } from './shown_names.js';
import { NO_FUNCTION } from './function_names.js';
import { BROKEN_ROOT } from './unnamed_code.js';

/**
 * @typedef {object} NodeDetails
 * @property {string} name
 * @property {string} place module and kind of code
 * @property {[string, string][]} figures label and text
 * @property {string} [note] what there is to know about it
 */

const BROKEN_NOTE = 'The callers of this code are not known. It was compiled without frame pointers, so that following them led to addresses of no code. '
  + 'To record all callers: perf record --call-graph dwarf (or lbr, where the processor has it), or compile with -fno-omit-frame-pointer.';


/**
 * @param {import('./page_model.js').PageModel} model
 * @param {ViewTree} view
 * @param {number} node
 * @param {string} rootText
 * @returns {NodeDetails}
 */
export function detailsOfNode(model, view, node, rootText) {
  const fn = view.fn[node];
  const isRoot = node === 0 && view.rootFn === NO_FUNCTION;
  /** @type {[string, string][]} */
  const figures = [[view.unit ? 'lasts' : 'total here', shareText(model, view.total[node], view.whole[0], view.unit)]];
  if (view === model.whole) figures.push(['self here', shareText(model, model.weights.self[node], view.whole[0])]);
  if (node !== 0 && view.parent[node] !== 0 && !view.unit) {
    figures.push(['of the caller', percentText(view.total[node], view.total[view.parent[node]])]);
  }
  if (view.old) figures.push(...changeFigures(model, view, node));
  if (isRoot) return { name: rootText, place: '', figures };
  if (fn >= model.profile.functionCount) return { name: shownName(model.profile, fn), place: '', figures };
  figures.push(['function self', shareText(model, model.figures.self[fn], model.total)]);
  figures.push(['function total', shareText(model, model.figures.total[fn], model.total)]);
  const verdict = model.verdictOf(fn);
  if (verdict) figures.push(['verdict', shownText(verdict)]);
  const note = model.profile.functionName(fn) === BROKEN_ROOT ? BROKEN_NOTE : '';
  return { name: shownName(model.profile, fn), place: placeText(model.profile, fn), figures, note };
}

/**
 * @param {import('./page_model.js').PageModel} model
 * @param {ViewTree} view
 * @param {number} node
 * @returns {[string, string][]}
 */
function changeFigures(model, view, node) {
  const old = /** @type {Float64Array} */ (view.old)[node];
  const costs = Boolean(model.profile.diff?.work);
  const [share, oldShare] = nodeShares(view, node, costs);
  const other = model.profile.sides[1 - model.state.side];
  const fn = view.fn[node];
  const ways = fn < model.profile.functionCount ? changeWays(model.profile.diff, fn) : changeWays(null, fn);
  // What the comparison does not see as a change is not called one.
  const step = changeStep(share, oldShare, ways);
  const words = step === NO_CHANGE && changeStep(share, oldShare) !== NO_CHANGE ? 'not seen as a change' : CHANGE_TEXTS[step];
  return [
    [`on the side "${shownText(other)}"`, shareText(model, old, view.whole[1])],
    costs ? ['change of cost', `${changeText(view.total[node] - old, model.measure.unit)}, ${words}`]
      : ['change of share', `${pointsText(share - oldShare)}, ${words}`],
  ];
}

/**
 * @param {import('./page_model.js').PageModel} model
 * @param {number} weight
 * @param {number} whole
 * @param {string} [unit] of the measure, unless another one is given
 * @returns {string}
 */
export function shareText(model, weight, whole, unit = model.measure.unit) {
  const text = `${weightText(weight, unit)} (${percentText(weight, whole)})`;
  return model.profile.exact ? text : `about ${text}`;
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string}
 */
export function placeText(profile, fn) {
  const module = moduleName(profile, fn);
  return module ? `${module}, ${modeText(profile, fn)}` : modeText(profile, fn);
}

/**
 * The most important of it in one line, without figures that take time to work out.
 * @param {import('./page_model.js').PageModel} model
 * @param {ViewTree} view
 * @param {number} node
 * @param {string} rootText
 * @returns {string}
 */
export function nodeLine(model, view, node, rootText) {
  const weight = shareText(model, view.total[node], view.whole[0], view.unit);
  const self = view === model.whole ? `, self ${shareText(model, model.weights.self[node], view.whole[0])}` : '';
  const change = view.old ? `, ${changeFigures(model, view, node)[1][1]}` : '';
  if (node === 0 && view.rootFn === NO_FUNCTION) return rootText + self + change;
  const fn = view.fn[node];
  if (fn >= model.profile.functionCount) return `${shownName(model.profile, fn)} – ${weight}${change}`;
  return `${shownName(model.profile, fn)} – ${placeText(model.profile, fn)} – ${weight}${self}${change}`;
}

/** The card beside the pointer. */
export class HoverCard {
  constructor() {
    this.element = make('div', { class: 'hover-card', hidden: true, 'aria-hidden': 'true' });
  }

  /**
   * @param {NodeDetails} details
   * @param {number} x of the pointer
   * @param {number} y
   */
  show(details, x, y) {
    this.element.replaceChildren(
      make('div', { class: 'hover-name' }, details.name),
      make('div', { class: 'hover-place' }, details.place),
      make('dl', {}, ...details.figures.flatMap(([label, text]) => [make('dt', {}, label), make('dd', {}, text)])),
      ...(details.note ? [make('p', { class: 'hover-note' }, details.note)] : []));
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 16 + width > innerWidth ? Math.max(4, x - 16 - width) : x + 16;
    const top = y + 18 + height > innerHeight ? Math.max(4, y - 12 - height) : y + 18;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}

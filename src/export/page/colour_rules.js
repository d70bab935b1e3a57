// What colour a function or node has, and what the legend says. Kinds are told apart by people who see
// few colours, too: the hues are Paul Tol's "light" ones and their darker likes, the scale of changes
// goes from blue to orange, and the legend, hover and table say in words what a colour says.
import { NO_FUNCTION } from './function_names.js';
import { lastPart, shortName, shownText } from './shown_names.js';

/**
 * Colours of a theme. All texts on them have a contrast of 4.5 or more (a test computes it).
 * @typedef {object} Palette
 * @property {string[]} kinds the last one is for "others"
 * @property {string[]} changes from much less to much more
 * @property {string} root
 * @property {string} dimmed of boxes that a search did not find
 * @property {string} text
 * @property {string} dimText
 * @property {string} ring of focus
 * @property {string} found outline of what a search found
 * @property {string} bar of the timeline
 * @property {string} range of the timeline's chosen part
 * @property {string} back
 */

/** @type {Palette} */
export const LIGHT_PALETTE = {
  kinds: ['#8fb8e0', '#f4c08a', '#8fd0b4', '#f0b6c4', '#d9d27c', '#a9dcee', '#c5b9e6', '#c6d67e', '#dcdfe4'],
  changes: ['#6ba6d6', '#9cc5e6', '#cfe1f0', '#e6e8eb', '#fadcc0', '#f6b98a', '#ee9458'],
  root: '#e6e9ee', dimmed: '#eceef1', text: '#15181d', dimText: '#5a626d', ring: '#0b57d0', found: '#7a1fa2',
  bar: '#5b87b5', range: '#0b57d0', back: '#ffffff',
};

/** @type {Palette} */
export const DARK_PALETTE = {
  kinds: ['#2f5f94', '#8a5320', '#22694f', '#87405a', '#66601a', '#20667e', '#5b4c94', '#4f6420', '#474d57'],
  changes: ['#1c6fb8', '#235f98', '#2b4f72', '#41464e', '#664a2c', '#84501c', '#a1530a'],
  root: '#3a4049', dimmed: '#2a2e35', text: '#f3f5f8', dimText: '#a6aeb9', ring: '#8ab4ff', found: '#e3b3ff',
  bar: '#6f9ccb', range: '#8ab4ff', back: '#15181c',
};

const MODE_TEXTS = ['user code', 'kernel', 'compiled at run time', 'unknown', 'inlined'];
/** Which of the kinds a mode has. */
const MODE_KINDS = [0, 1, 2, 8, 5];
export const CHANGE_TEXTS = ['half or less', 'a quarter less', 'less', 'about the same', 'more', 'a third more', 'double or more'];

/**
 * A line of the legend. `kind` is an index into kinds or changes.
 * `fn`: it is of this function alone.
 * @typedef {{kind: number, text: string, weight: number, fn?: number}} LegendEntry
 *
 * @typedef {object} Colouring
 * @property {'module' | 'function' | 'mode' | 'change'} by
 * @property {Uint8Array} kind by function; not of changes
 * @property {LegendEntry[]} legend
 * @property {(fn: number) => ChangeWays} [ways] of changes: what a comparison found
 * @property {boolean} [costs] changes of costs, not of shares
 */

/** Modules with less than this part of everything have no colour of their own. */
const LEAST_COLOURED = 0.001;

/**
 * The heaviest modules get a colour each.
 * @param {Profile} profile
 * @param {Float64Array} self by function, of all sides
 * @returns {Colouring}
 */
export function moduleColouring(profile, self) {
  const others = LIGHT_PALETTE.kinds.length - 1;
  const weights = new Float64Array(profile.modules.length + 1);
  for (let fn = 0; fn < profile.functionCount; fn++) {
    weights[moduleRow(profile, fn)] += self[fn];
  }
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const heaviest = Array.from(profile.modules.keys())
    .filter((module) => weights[module] > 0 && weights[module] >= whole * LEAST_COLOURED)
    .sort((a, b) => weights[b] - weights[a] || a - b).slice(0, others);
  const kindOfModule = new Uint8Array(profile.modules.length + 1).fill(others);
  heaviest.forEach((module, kind) => { kindOfModule[module] = kind; });
  const kind = new Uint8Array(profile.functionCount);
  for (let fn = 0; fn < kind.length; fn++) kind[fn] = kindOfModule[moduleRow(profile, fn)];
  const legend = heaviest.map((module, k) => ({
    kind: k, text: shownText(lastPart(profile.modules[module])) || '(no name)', weight: weights[module],
  }));
  const rest = weights.reduce((sum, weight, module) => sum + (kindOfModule[module] === others ? weight : 0), 0);
  if (rest > 0) legend.push({ kind: others, text: heaviest.length ? 'others' : 'no module', weight: rest });
  return { by: 'module', kind, legend };
}

/**
 * The heaviest functions have a colour each, the others one by their number.
 * @param {Profile} profile
 * @param {Float64Array} self by function, of all sides
 * @returns {Colouring}
 */
export function functionColouring(profile, self) {
  const own = LIGHT_PALETTE.kinds.length - 1;
  const heaviest = Array.from(profile.functionMode.keys()).filter((fn) => self[fn] > 0).sort((a, b) => self[b] - self[a] || a - b).slice(0, own);
  const kind = Uint8Array.from(profile.functionMode, (_, fn) => fn % own);
  heaviest.forEach((fn, place) => { kind[fn] = place; });
  return { by: 'function', kind, legend: heaviest.map((fn, k) => ({ kind: k, text: shortName(profile, fn), weight: self[fn], fn })) };
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {number} its module, or the row after the last for none
 */
function moduleRow(profile, fn) {
  const module = profile.functionModule[fn];
  return module === NO_FUNCTION || module >= profile.modules.length ? profile.modules.length : module;
}

/**
 * @param {Profile} profile
 * @param {Float64Array} self by function, of all sides
 * @returns {Colouring}
 */
export function modeColouring(profile, self) {
  const kind = new Uint8Array(profile.functionCount);
  const weights = new Float64Array(MODE_TEXTS.length);
  for (let fn = 0; fn < kind.length; fn++) {
    const mode = Math.min(profile.functionMode[fn], MODE_TEXTS.length - 1);
    kind[fn] = MODE_KINDS[mode];
    weights[mode] += self[fn];
  }
  const legend = MODE_TEXTS.map((text, mode) => ({ kind: MODE_KINDS[mode], text, weight: weights[mode] }))
    .filter((entry) => entry.weight > 0);
  return { by: 'mode', kind, legend };
}

/**
 * @param {number} functionCount
 * @param {Diff | null} diff
 * @returns {Colouring}
 */
export function changeColouring(functionCount, diff) {
  const legend = CHANGE_TEXTS.map((text, kind) => ({ kind, text, weight: -1 }));
  if (!diff) return { by: 'change', kind: new Uint8Array(functionCount), legend };
  /** @type {Map<number, ChangeWays>} */
  const known = new Map();
  const ways = (/** @type {number} */ fn) => {
    let found = known.get(fn);
    if (!found) known.set(fn, found = changeWays(diff, fn));
    return found;
  };
  return { by: 'change', kind: new Uint8Array(functionCount), legend, ways, costs: Boolean(diff.work) };
}

/** The step of the scale that says "about the same". */
export const NO_CHANGE = 3;

/**
 * Which changes of a function there are for sure.
 * @typedef {{more: boolean, less: boolean}} ChangeWays
 */
const BOTH_WAYS = { more: true, less: true };
const MORE_VERDICTS = ['more', 'appeared'];
const LESS_VERDICTS = ['less', 'disappeared'];

/**
 * @param {Diff | null} diff
 * @param {number} fn
 * @returns {ChangeWays} both without a comparison
 */
export function changeWays(diff, fn) {
  if (!diff) return BOTH_WAYS;
  const finding = diff.findingOf(fn);
  const verdicts = finding ? [finding.self.verdict, finding.total.verdict] : [];
  return { more: verdicts.some((verdict) => MORE_VERDICTS.includes(verdict)), less: verdicts.some((verdict) => LESS_VERDICTS.includes(verdict)) };
}

/**
 * The step of the scale for a node's change of share. Changes of less than a twentieth of a percentage
 * point of all samples are "about the same", however large they are for the node.
 * @param {number} share
 * @param {number} oldShare
 * @param {ChangeWays} [allowed] what a comparison found of the function; what it did not see is no change
 * @returns {number} index into changes
 */
export function changeStep(share, oldShare, allowed = BOTH_WAYS) {
  const difference = share - oldShare;
  if (Math.abs(difference) < 0.0005 || !(difference > 0 ? allowed.more : allowed.less)) return NO_CHANGE;
  const part = difference / Math.max(share, oldShare);
  if (part <= -0.5) return 0;
  if (part <= -0.25) return 1;
  if (part <= -0.05) return 2;
  if (part < 0.05) return NO_CHANGE;
  if (part < 0.25) return 4;
  return part < 0.5 ? 5 : 6;
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string}
 */
export function modeText(profile, fn) {
  return MODE_TEXTS[Math.min(profile.functionMode[fn], MODE_TEXTS.length - 1)];
}

/** How much of the background is mixed into a colour, so that neighbours of one kind differ a little. */
const SHADES = [0, 0.14, 0.28];

/**
 * @param {string} colour #rrggbb
 * @param {string} other
 * @param {number} part of the other
 * @returns {string}
 */
export function mixedColour(colour, other, part) {
  let mixed = '#';
  for (let k = 1; k < 7; k += 2) {
    const value = parseInt(colour.slice(k, k + 2), 16) * (1 - part) + parseInt(other.slice(k, k + 2), 16) * part;
    mixed += Math.round(value).toString(16).padStart(2, '0');
  }
  return mixed;
}

/**
 * The colours of kinds in all their shades: kind * SHADES.length + shade.
 * @param {Palette} palette
 * @returns {string[]}
 */
function shadedKinds(palette) {
  return palette.kinds.flatMap((colour) => SHADES.map((part) => mixedColour(colour, palette.back, part)));
}

const LIGHT_SHADES = shadedKinds(LIGHT_PALETTE);
const DARK_SHADES = shadedKinds(DARK_PALETTE);

/**
 * What a node is of each side; of costs both of the larger whole, so that a change of all is one of each node.
 * @param {ViewTree} view of two sides
 * @param {number} node
 * @param {boolean} costs
 * @returns {[number, number]} shown side, other side
 */
export function nodeShares(view, node, costs) {
  const most = Math.max(view.whole[0], view.whole[1]);
  const [whole, oldWhole] = costs ? [most, most] : view.whole;
  return [whole > 0 ? view.total[node] / whole : 0, oldWhole > 0 && view.old ? view.old[node] / oldWhole : 0];
}

/**
 * Fill of a node.
 * @param {ViewTree} view
 * @param {number} node
 * @param {Colouring} colouring
 * @param {Palette} palette
 * @returns {string}
 */
export function nodeColour(view, node, colouring, palette) {
  if (colouring.by === 'change' && view.old) {
    const [share, oldShare] = nodeShares(view, node, colouring.costs === true);
    const fn = view.fn[node];
    const kind = colouring.ways && fn < colouring.kind.length ? colouring.ways(fn) : BOTH_WAYS;
    return palette.changes[changeStep(share, oldShare, kind)];
  }
  const fn = view.fn[node];
  if (fn >= colouring.kind.length) return palette.root;
  const shade = Math.imul(fn, 0x9e3779b1) >>> 16;
  return (palette === DARK_PALETTE ? DARK_SHADES : LIGHT_SHADES)[colouring.kind[fn] * SHADES.length + (shade % SHADES.length)];
}

// Names as they are shown: what hides or turns text is written out, and long ones become shorter.
import { NO_FUNCTION } from './function_names.js';

/** Longest name in a row of a table or in a label, in characters. */
const SHOWN_NAME_LIMIT = 4000;

/** Control characters, marks that turn the direction of text, line separators, invisible ones, lone halves. */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Cs}\ufff9-\ufffb]/gu;

/**
 * Text of a capture that cannot disturb what stands around it.
 * @param {string} text
 * @returns {string}
 */
export function shownText(text) {
  const escaped = text.length > SHOWN_NAME_LIMIT
    ? text.slice(0, SHOWN_NAME_LIMIT) + `… (${text.length} characters)` : text;
  return escaped.replace(UNSHOWN, (mark) => '\\u{' + (mark.codePointAt(0) ?? 0).toString(16) + '}');
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string} never empty
 */
export function shownName(profile, fn) {
  return shownText(profile.functionName(fn)) || '(no name)';
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string} last part of the module's path, '' when there is none
 */
export function moduleName(profile, fn) {
  const module = profile.functionModule[fn];
  if (module === undefined || module === NO_FUNCTION || module >= profile.modules.length) return '';
  return shownText(lastPart(profile.modules[module]));
}

/**
 * @param {string} path
 * @returns {string}
 */
export function lastPart(path) {
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return cut >= 0 && cut + 1 < path.length ? path.slice(cut + 1) : path;
}

/** Longer forms are cut: no box is that wide. */
const LONGEST_LABEL = 400;

/**
 * A function as rows and boxes name it: without parameters, template arguments and result types.
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string} never empty
 */
export function shortName(profile, fn) {
  return shownText(profile.shortNames(fn)[0] ?? '') || '(no name)';
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string[]} ever shorter forms: without one namespace after the other
 */
export function shownForms(profile, fn) {
  const forms = profile.shortNames(fn).map(shownText).filter((form) => form !== '');
  return forms.length > 0 ? forms : ['(no name)'];
}

/**
 * The longest form of a name that fits, cut with an ellipsis when none does, '' when not even that helps.
 * @param {string[]} forms ever shorter
 * @param {number} room
 * @param {(text: string) => number} widthOf in the unit of room
 * @returns {string}
 */
export function fittedName(forms, room, widthOf) {
  for (const form of forms) {
    if (form.length <= LONGEST_LABEL && widthOf(form) <= room) return form;
  }
  const last = forms[forms.length - 1].slice(0, LONGEST_LABEL);
  let low = 0;
  let high = last.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(last.slice(0, middle) + '…') <= room) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? last.slice(0, low) + '…' : '';
}

// Names as they are shown: what hides or turns text is written out, and long ones become shorter.
import { NO_FUNCTION } from './function_names.js';

/** Longest name in a row of a table or in a label, in characters. */
const SHOWN_NAME_LIMIT = 4000;

/** Control characters, marks that turn the direction of text, line separators, invisible ones, lone halves. */
const UNSHOWN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Text of a capture that cannot disturb what stands around it.
 * @param {string} text
 * @returns {string}
 */
export function shownText(text) {
  const escaped = text.length > SHOWN_NAME_LIMIT
    ? text.slice(0, SHOWN_NAME_LIMIT) + `… (${text.length} characters)` : text;
  return escaped.replace(UNSHOWN, (mark) => '\\u{' + mark.charCodeAt(0).toString(16) + '}');
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
  if (module === NO_FUNCTION || module >= profile.modules.length) return '';
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

const OPENING = '<([{';
const CLOSING = '>)]}';

/**
 * Leaves out what stands in <> and (): template arguments and parameters. Names of operators keep theirs.
 * @param {string} name
 * @returns {string}
 */
export function withoutArguments(name) {
  if (name.includes('operator') || !/[<(]/.test(name)) return name;
  const named = name.replaceAll('(anonymous namespace)::', '').replaceAll('{anonymous}::', '');
  let depth = 0;
  let kept = '';
  for (let i = 0; i < named.length; i++) {
    const c = named[i];
    if (c === '-' && named[i + 1] === '>') {
      i++;
      if (depth === 0) kept += '->';
    } else if (OPENING.includes(c) && c !== '[' && c !== '{') {
      depth++;
    } else if (CLOSING.includes(c) && c !== ']' && c !== '}') {
      depth = Math.max(0, depth - 1);
    } else if (depth === 0) {
      kept += c;
    }
  }
  const short = kept.replace(/ (const|volatile|&|&&)*$/, '').trim();
  // "<lambda>" and "(anonymous namespace)" alone would leave nothing.
  return /[\p{L}\p{N}_]/u.test(short) && !short.startsWith('::') ? short : name;
}

/**
 * @param {string} name
 * @returns {string[]} ever shorter forms: without arguments, then without one namespace after the other
 */
export function shorterNames(name) {
  const forms = [name];
  // "value /srv/parser.js:10:8": names of run-time compilers have their place in them.
  let form = withoutArguments(name.replace(/^(\S+) \S+:\d+(:\d+)?$/, '$1'));
  if (form !== name) forms.push(form);
  // A result type before the name, as in "void ns::f", goes first.
  const space = form.lastIndexOf(' ');
  if (space >= 0 && form.includes('::', space)) forms.push(form = form.slice(space + 1));
  for (let cut = nameCut(form); cut > 0; cut = nameCut(form)) forms.push(form = form.slice(cut));
  return forms;
}

/**
 * @param {string} name
 * @returns {number} where the name goes on after its first namespace, or 0
 */
function nameCut(name) {
  const match = /^[^\s:]*?(::|(?<=[\w$])\.(?=[A-Za-z_$][\w$]*\.))/.exec(name);
  return match && match[0].length < name.length && match[0].length > 0 ? match[0].length : 0;
}

/**
 * The longest form of a name that fits, cut with an ellipsis when none does, '' when not even that helps.
 * @param {string} name
 * @param {number} room
 * @param {(text: string) => number} widthOf in the unit of room
 * @returns {string}
 */
export function fittedName(name, room, widthOf) {
  if (widthOf(name) <= room) return name;
  const forms = shorterNames(name);
  for (const form of forms) {
    if (widthOf(form) <= room) return form;
  }
  const last = forms[forms.length - 1];
  let low = 0;
  let high = last.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(last.slice(0, middle) + '…') <= room) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? last.slice(0, low) + '…' : '';
}

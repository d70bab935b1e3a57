// The state of the views as the fragment of a link, and back. Unknown or bad parts are passed over.
import { NO_FUNCTION } from './function_names.js';
import { isWholeMachine } from './rooted_tree.js';

/** @type {ViewState} */
export const START_STATE = {
  view: 'flame', direction: 'down', inverted: false, merged: false, root: 'none', colour: 'module', measure: 0, side: 0,
  query: '', regex: false, zoom: [], window: null, fn: -1, range: null, threads: null, label: '', span: null, interval: -1, sort: 'self',
  ascending: false, theme: 'auto',
};

const VIEWS = ['flame', 'sandwich', 'functions', 'timeline', 'lanes', 'events', 'source', 'chart'];
const COLOURS = ['module', 'function', 'mode', 'change'];
const SORTS = ['name', 'module', 'self', 'total', 'change', 'change-self', 'verdict'];
const ROOTS = ['none', 'process', 'thread'];
const THEMES = ['auto', 'light', 'dark'];
/** A path in a link is no longer than the deepest callstack that is stored. */
const LONGEST_PATH = 70000;

/**
 * Tables of source lines, or the others.
 * @param {EventTable[]} tables
 * @param {boolean} ofSource
 * @returns {EventTable[]}
 */
export function tablesOf(tables, ofSource) {
  return tables.filter((table) => table.columns.some((column) => column.unit === 'code') === ofSource);
}

/**
 * @param {Profile} profile
 * @returns {boolean} whether it knows modules: colours are theirs, unless there are none
 */
export function hasModules(profile) {
  return profile.functionModule.some((module) => module !== NO_FUNCTION && profile.modules[module] !== '');
}

/**
 * Lanes are of context switches, tables of events that have values and of sources that were given: not every page has them.
 * @param {Profile} profile
 * @param {ViewState['view']} view
 * @returns {boolean}
 */
export function hasView(profile, view) {
  if (view === 'lanes') return profile.lanes !== null;
  if (view === 'chart') return profile.timeline !== null && profile.sides.length < 2;
  return (view !== 'events' && view !== 'source') || tablesOf(profile.tables, view === 'source').length > 0;
}

/** Events that are switches: their samples say where threads stop, and not for how long. */
const SWITCH_EVENTS = ['sched:sched_switch', 'context-switches', 'cs'];

/**
 * @param {Profile} profile
 * @returns {number} what is counted first: the time that threads were blocked where samples are of switches alone
 */
function startMeasure(profile) {
  const blocked = profile.lanes?.measures[0] ?? -1;
  return blocked >= 0 && SWITCH_EVENTS.includes(profile.measures[0]?.name.split(':').slice(0, 2).join(':')) ? blocked : 0;
}

/**
 * What the page starts with when the link says nothing.
 * @param {Profile} profile
 * @returns {ViewState}
 */
export function startState(profile) {
  const differential = profile.sides.length > 1;
  return { ...START_STATE, measure: startMeasure(profile), side: differential ? 1 : 0, colour: differential ? 'change' : hasModules(profile) ? 'module' : 'function', sort: differential ? 'change' : 'self',
    root: isWholeMachine(profile) ? 'process' : 'none' };
}

/**
 * @param {ViewState} state
 * @param {Profile} profile
 * @returns {string} without #, '' for the start
 */
export function linkOfState(state, profile) {
  const start = startState(profile);
  const link = new URLSearchParams();
  /** @type {(key: string, value: unknown, usual: unknown) => void} */
  const put = (key, value, usual) => { if (value !== usual) link.set(key, String(value)); };
  put('view', state.view, start.view);
  put('up', state.direction === 'up' ? 1 : 0, 0);
  put('inverted', state.inverted ? 1 : 0, 0);
  put('merged', state.merged ? 1 : 0, 0);
  put('root', state.root, start.root);
  put('colour', state.colour, start.colour);
  put('measure', state.measure, start.measure);
  put('side', state.side, start.side);
  put('search', state.query, '');
  put('regex', state.regex ? 1 : 0, 0);
  put('zoom', state.zoom.join('.'), '');
  put('window', state.window ? state.window.map((edge) => +edge.toPrecision(12)).join('-') : '', '');
  put('fn', state.fn, -1);
  put('range', state.range ? state.range.join('-') : '', '');
  put('threads', state.threads ? state.threads.join('.') || 'none' : '', '');
  put('label', state.label, '');
  put('span', state.span ? state.span.map((tick) => +tick.toPrecision(12)).join('-') : '', '');
  put('interval', state.interval, -1);
  put('sort', state.sort, start.sort);
  put('ascending', state.ascending ? 1 : 0, 0);
  put('theme', state.theme, 'auto');
  return link.toString();
}

/**
 * @param {string} fragment with or without #
 * @param {Profile} profile
 * @returns {ViewState}
 */
export function stateOfLink(fragment, profile) {
  const start = startState(profile);
  const link = new URLSearchParams(fragment.replace(/^#/, ''));
  const differential = profile.sides.length > 1;
  return {
    view: oneOf(link.get('view'), VIEWS.filter((view) => hasView(profile, /** @type {any} */ (view))), start.view),
    direction: link.get('up') === '1' ? 'up' : 'down',
    inverted: link.get('inverted') === '1',
    merged: link.get('merged') === '1',
    root: profile.timeline && !differential ? oneOf(link.get('root'), ROOTS, start.root) : 'none',
    colour: oneOf(link.get('colour'), differential ? COLOURS : COLOURS.filter((colour) => colour !== 'change'), start.colour),
    measure: indexOf(link.get('measure'), profile.measures.length, start.measure),
    side: differential ? indexOf(link.get('side'), 2, start.side) : 0,
    query: link.get('search') ?? '',
    regex: link.get('regex') === '1',
    // Processes and threads have numbers behind those of the functions.
    zoom: listOf(link.get('zoom'), profile.functionCount + 2 * profile.threads.length) ?? [],
    window: windowOf(link.get('window')),
    fn: indexOf(link.get('fn'), profile.functionCount, -1),
    range: rangeOf(link.get('range'), profile.timeline),
    threads: profile.timeline ? listOf(link.get('threads'), profile.threads.length) : null,
    label: profile.labels.length > 0 ? labelOf(link.get('label')) : '',
    span: spanOf(link.get('span'), profile.lanes),
    interval: profile.lanes ? indexOf(link.get('interval'), profile.lanes.count, -1) : -1,
    sort: oneOf(link.get('sort'), SORTS, start.sort),
    ascending: link.get('ascending') === '1',
    theme: oneOf(link.get('theme'), THEMES, 'auto'),
  };
}

/**
 * @param {string | null} text
 * @param {string[]} words
 * @param {string} usual
 * @returns {any} one of the words
 */
function oneOf(text, words, usual) {
  return text !== null && words.includes(text) ? text : usual;
}

/**
 * @param {string | null} text
 * @param {number} count
 * @param {number} usual
 * @returns {number} below count
 */
function indexOf(text, count, usual) {
  return text !== null && /^\d{1,10}$/.test(text) && Number(text) < count ? Number(text) : usual;
}

/**
 * @param {string | null} text
 * @param {number} count
 * @returns {number[] | null} null: none given or not a list of indices below count
 */
function listOf(text, count) {
  if (text === 'none') return [];
  if (!text || !/^\d+(\.\d+)*$/.test(text)) return null;
  const list = text.split('.', LONGEST_PATH).map(Number);
  return list.every((index) => index < count) ? list : null;
}

/**
 * @param {string | null} text
 * @returns {string} KEY=VALUE, or ''
 */
function labelOf(text) {
  return text !== null && text.indexOf('=') > 0 ? text : '';
}

/**
 * @param {string | null} text
 * @returns {[number, number] | null}
 */
function windowOf(text) {
  const match = /^(\d(?:\.\d+)?(?:e-?\d+)?)-(\d(?:\.\d+)?(?:e-?\d+)?)$/.exec(text ?? '');
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from < to && to <= 1 && to - from >= 1e-10 ? [from, to] : null;
}

/**
 * @param {string | null} text
 * @param {Timeline | null} timeline
 * @returns {[number, number] | null}
 */
function rangeOf(text, timeline) {
  const match = /^(\d{1,10})-(\d{1,10})$/.exec(text ?? '');
  if (!match || !timeline) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from <= to && to < timeline.buckets ? [from, to] : null;
}

/**
 * @param {string | null} text
 * @param {LaneSource | null} lanes
 * @returns {[number, number] | null} ticks
 */
function spanOf(text, lanes) {
  const match = /^(\d{1,10}(?:\.\d+)?)-(\d{1,10}(?:\.\d+)?)$/.exec(text ?? '');
  if (!match || !lanes) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from < to && to <= lanes.ticks ? [from, to] : null;
}

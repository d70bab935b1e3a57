// The command line that says what is shown.
import { stateOfMeasure } from './lane_weights.js';
import { unitName } from './number_text.js';
import { shownText } from './shown_names.js';

/** More threads than this are no words for a command line. */
const MOST_WORDS = 40;

/**
 * @param {string} text
 * @returns {string} as a shell takes it
 */
export function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {bigint} ns
 * @returns {string} as listings write times
 */
function timeWord(ns) {
  return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, '0')}`;
}

/**
 * What the search box has, as FUNCTION is typed.
 * @param {ViewState} state
 * @returns {string} '' where nothing is searched for
 */
function functionWord({ query, regex }) {
  if (query === '') return '';
  if (regex && !/^\/.+\/$/s.test(query)) return `/${query}/`;
  const cut = query.indexOf('!') + 1;
  const name = query.slice(cut);
  return /[*?]|^\/.+\/$/s.test(name) ? query : `${query.slice(0, cut)}*${name}*`;
}

/**
 * @param {Profile} profile
 * @param {number[] | null} threads
 * @returns {string[] | null} options; null: there are none that say it
 */
function threadWords(profile, threads) {
  if (!threads) return [];
  const wanted = new Set(threads);
  const chosen = threads.map((thread) => profile.threads[thread]);
  const others = profile.threads.filter((_, index) => !wanted.has(index));
  const pids = new Set(chosen.map(({ pid }) => pid));
  const names = new Set(chosen.map(({ process }) => process));
  /** @type {string[][]} */
  let words = chosen.map(({ tid }) => ['--thread', String(tid)]);
  if (pids.size === 1 && !others.some(({ pid }) => pids.has(pid))) words = [['--pid', String(chosen[0].pid)]];
  else if (!others.some(({ process, thread }) => names.has(process) || names.has(thread))) words = Array.from(names, (name) => ['--comm', name]);
  const tids = new Set(chosen.map(({ tid }) => tid));
  // A thread that has run another program since is two here.
  if (words[0]?.[0] === '--thread' && others.some(({ tid }) => tids.has(tid))) return null;
  return words.length === 0 || words.length > MOST_WORDS || words.some(([, word]) => word === '' || word === '-1') ? null : words.flat();
}

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {string[]} which event, and what its samples count for
 */
function measureWords(profile, state) {
  const chosen = profile.measures[state.measure];
  if (!chosen || state.measure === 0) return [];
  const words = chosen.name === profile.measures[0].name ? [] : ['--event', chosen.name];
  if (stateOfMeasure(profile, state.measure) >= 0) return words;
  return [...words, '--count', unitName(chosen.unit) === 'samples' ? 'samples' : 'weight'];
}

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {string[]}
 */
function rangeWords(profile, { range }) {
  const { timeline } = profile;
  if (!range || !timeline) return [];
  const [from, to] = [range[0], range[1] + 1].map((bucket) => timeline.start + BigInt(bucket) * BigInt(timeline.width));
  return ['--from', timeWord(from), '--to', timeWord(to - 1n)];
}

/**
 * @param {ViewState} state
 * @returns {string[] | null} null: the value would be a pattern
 */
function labelWords({ label }) {
  if (label === '') return [];
  return /[*?]/.test(label) ? null : ['--label', label];
}

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {string} '' where no command shows the like
 */
export function commandLine(profile, state) {
  const line = lineOf(profile, state);
  // What a terminal would not take as text is not for its clipboard.
  return shownText(line) === line ? line : '';
}

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {string}
 */
function lineOf(profile, state) {
  const files = profile.files.map((side) => side.map(shellWord));
  if (files.length === 0 || files.some((side) => side.length === 0)) return '';
  if (profile.sides.length > 1) return `stackpack diff ${files[0].join(' ')} --against ${files[1].join(' ')}`;
  const threads = threadWords(profile, state.threads);
  const labels = labelWords(state);
  // Times of several files are not those of one clock.
  if (!threads || !labels || (state.range && files[0].length > 1)) return '';
  const filters = [...measureWords(profile, state), ...rangeWords(profile, state), ...threads, ...labels].map(shellWord);
  const wanted = functionWord(state);
  const focus = wanted === '' ? [] : ['--focus', shellWord(wanted)];
  const line = (/** @type {string} */ command, /** @type {string[]} */ ...words) => ['stackpack', command, ...files[0], ...words, ...filters].join(' ');
  if (state.view === 'lanes') return ['stackpack', 'waits', ...files[0], ...rangeWords(profile, state), ...threads].join(' ');
  if (state.view === 'events' || state.view === 'source') return '';
  if (state.view === 'functions') return line('top', ...(state.sort === 'total' ? ['--total'] : []), ...(wanted === '' ? [] : ['--only', shellWord(wanted)]));
  if (state.view === 'timeline') return line('top', '--by', 'thread', ...focus);
  if (state.view === 'sandwich' && state.fn >= 0 && profile.functionNamed[state.fn] && !profile.functionName(state.fn).startsWith('[')) {
    const name = shellWord(profile.functionName(state.fn));
    return `${line('callers', name)} && ${line('callees', name)}`;
  }
  return line('top', '--tree', ...focus);
}

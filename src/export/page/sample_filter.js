// Which samples count: a range of the timeline, some threads, a label, an event, a side of a differential.
import { eachWait, stateOfMeasure, waitColumns, waitSelf } from './lane_weights.js';

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {boolean} whether samples are left out
 */
export function isFiltered(profile, state) {
  return profile.samples !== null && (state.range !== null || state.threads !== null || state.label !== '');
}

/**
 * Weights by node of what the state selects. Unfiltered ones are the profile's own arrays: do not change them.
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {Weights}
 */
export function selectedWeights(profile, state) {
  const differential = profile.sides.length > 1;
  const side = differential ? state.side : 0;
  const shown = profile.self[side][state.measure];
  const oldSelf = differential ? profile.self[1 - side][state.measure] : null;
  const { samples } = profile;
  if (!samples || !isFiltered(profile, state)) return { self: shown, oldSelf };
  const waits = stateOfMeasure(profile, state.measure);
  if (waits >= 0) return { self: waitSelf(profile, waits, state), oldSelf };
  const [from, to] = rowsOfRange(samples, state.range);
  const { measure, node, value } = samples;
  const wanted = rowChoice(profile, state);
  const self = new Float64Array(shown.length);
  for (let row = from; row < to; row++) {
    if (measure[row] === state.measure && wanted(row)) self[node[row]] += value[row];
  }
  return { self, oldSelf };
}

/**
 * Rows of some buckets.
 * @param {Timeline} timeline
 * @param {[number, number] | null} range
 * @returns {[number, number]} from, and the one after the last
 */
export function rowsOfRange(timeline, range) {
  if (!range) return [0, timeline.bucket.length];
  return [firstRowAt(timeline.bucket, range[0]), firstRowAt(timeline.bucket, range[1] + 1)];
}

/**
 * @param {Uint32Array} buckets sorted
 * @param {number} bucket
 * @returns {number} the first row of this bucket or a later one
 */
function firstRowAt(buckets, bucket) {
  let low = 0;
  let high = buckets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (buckets[middle] < bucket) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * @param {Profile} profile
 * @param {number[] | null} threads
 * @returns {Uint8Array} 1 for each wanted thread
 */
export function threadMask(profile, threads) {
  const mask = new Uint8Array(Math.max(1, profile.threads.length));
  if (!threads) return mask.fill(1);
  for (const thread of threads) mask[thread] = 1;
  return mask;
}

/** What samples without a label of a key are called. */
export const NO_LABEL = '[no label]';

/**
 * @param {Profile} profile
 * @param {string} label KEY=VALUE
 * @returns {Uint8Array} 1 for each number of a row's `set` that has it; samples that share the last number have none that is known
 */
function labelMask(profile, label) {
  const key = label.slice(0, label.indexOf('='));
  const unlabelled = label === `${key}=${NO_LABEL}`;
  /** @type {(set: [string, string][]) => boolean} */
  const fits = (set) => (unlabelled ? set.every(([name]) => name !== key) : set.some(([name, value]) => `${name}=${value}` === label));
  return Uint8Array.from([[], ...profile.labels].map((set) => (fits(set) ? 1 : 0)).concat(0));
}

/**
 * @param {Profile} profile with samples
 * @param {{threads: number[] | null, label: string}} chosen
 * @returns {(row: number) => boolean} whether a row is of a thread that is chosen, and has the label
 */
export function rowChoice(profile, { threads, label }) {
  const { thread, set } = /** @type {Timeline} */ (profile.samples);
  const ofThread = threadMask(profile, threads);
  if (label === '') return (row) => ofThread[thread[row]] === 1;
  const ofSet = labelMask(profile, label);
  return (row) => ofThread[thread[row]] === 1 && ofSet[set[row]] === 1;
}

/** Columns of a strip, when samples are few, have at least this many on average: else they show chance. */
const LEAST_IN_COLUMN = 4;
const FEWEST_COLUMNS = 60;

/**
 * How many buckets make a column: all columns have as many, so that equal bars stand for equal weights.
 * @param {Timeline} timeline
 * @param {number} most columns
 * @returns {number}
 */
export function bucketsPerColumn(timeline, most) {
  const { buckets } = timeline;
  const fine = Math.ceil(buckets / Math.max(1, most));
  const sparse = Math.ceil((LEAST_IN_COLUMN * buckets) / Math.max(1, timeline.bucket.length));
  return Math.max(1, fine, Math.min(sparse, Math.ceil(buckets / FEWEST_COLUMNS)));
}

/**
 * Weight by thread and column, for drawing. The last column may have fewer buckets: it is made as high as
 * the others would be at its rate.
 * @param {Profile} profile
 * @param {number} measure
 * @param {number} size buckets of a column
 * @param {(node: number) => number} [kindOf] which of some kinds a node is
 * @param {string} [label] that samples have
 * @returns {{size: number, byThread: Float32Array[], all: Float32Array, byKind: Float32Array[], totals: Float64Array}}
 */
export function weightColumns(profile, measure, size, kindOf = () => 0, label = '') {
  const waits = stateOfMeasure(profile, measure);
  if (waits >= 0) return waitColumns(profile, waits, size, kindOf);
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const columns = Math.ceil(timeline.buckets / size);
  const byThread = profile.threads.map(() => new Float32Array(0));
  /** @type {Float32Array[]} */
  const byKind = [];
  const all = new Float32Array(columns);
  const totals = new Float64Array(profile.threads.length);
  const { bucket, thread, node, value, measure: measures } = timeline;
  const wanted = rowChoice(profile, { threads: null, label });
  for (let row = 0; row < bucket.length; row++) {
    if (measures[row] !== measure || !wanted(row)) continue;
    const column = Math.floor(bucket[row] / size);
    const t = thread[row];
    if (byThread[t].length === 0) byThread[t] = new Float32Array(columns);
    const kind = kindOf(node[row]);
    byKind[kind] ??= new Float32Array(columns);
    byThread[t][column] += value[row];
    byKind[kind][column] += value[row];
    all[column] += value[row];
    totals[t] += value[row];
  }
  const last = timeline.buckets - (columns - 1) * size;
  for (const sums of [all, ...byThread, ...byKind]) {
    if (sums && sums.length > 0) sums[columns - 1] *= size / last;
  }
  return { size, byThread, all, byKind, totals };
}

/**
 * Weight by thread.
 * @param {Profile} profile with a timeline
 * @param {{measure: number, range: [number, number] | null, label: string}} chosen
 * @returns {Float64Array}
 */
export function threadTotals(profile, { measure, range, label }) {
  const totals = new Float64Array(profile.threads.length);
  const waits = stateOfMeasure(profile, measure);
  if (waits >= 0) {
    const tick = profile.lanes?.tick ?? 1;
    eachWait(profile, waits, { range, threads: null, label }, (thread, _, from, to) => { totals[thread] += (to - from) * tick; });
    return totals;
  }
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const [from, to] = rowsOfRange(timeline, range);
  const { thread, value, measure: measures } = timeline;
  const wanted = rowChoice(profile, { threads: null, label });
  for (let row = from; row < to; row++) if (measures[row] === measure && wanted(row)) totals[thread[row]] += value[row];
  return totals;
}

/**
 * What samples are labelled with, each value with its weight, the heaviest first.
 * @param {Profile} profile with samples
 * @param {number} measure
 * @returns {{key: string, values: {value: string, weight: number}[]}[]} by key
 */
export function labelTotals(profile, measure) {
  const { set, value, measure: measures } = /** @type {Timeline} */ (profile.samples);
  const ofSet = new Float64Array(profile.labels.length + 2);
  for (let row = 0; row < set.length; row++) if (measures[row] === measure) ofSet[set[row]] += value[row];
  const sets = [[], ...profile.labels];
  const keys = Array.from(new Set(sets.flatMap((labels) => labels.map(([key]) => key)))).sort();
  return keys.map((key) => {
    /** @type {Map<string, number>} */
    const sums = new Map();
    sets.forEach((labels, number) => {
      const own = labels.filter(([name]) => name === key).map(([, text]) => text);
      for (const text of new Set(own.length > 0 ? own : [NO_LABEL])) sums.set(text, (sums.get(text) ?? 0) + ofSet[number]);
    });
    return { key, values: Array.from(sums, ([text, weight]) => ({ value: text, weight })).filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight) };
  });
}

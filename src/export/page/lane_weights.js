// Time in which threads waited, as weights: of a range, of some threads, over time.
import { LANE_STATES } from './lane_data.js';

/** States whose time is a measure, in the order of LaneSource.measures. */
const MEASURED = ['blocked', 'woken', 'preempted'].map((name) => LANE_STATES.indexOf(name));

/**
 * @param {Profile} profile
 * @param {number} measure
 * @returns {number} the state whose time it is, or -1
 */
export function stateOfMeasure(profile, measure) {
  const place = profile.lanes ? profile.lanes.measures.indexOf(measure) : -1;
  return place < 0 ? -1 : MEASURED[place];
}

/**
 * @param {Profile} profile
 * @param {number} state of lanes
 * @returns {number} its measure, or -1
 */
export function measureOfState(profile, state) {
  const place = MEASURED.indexOf(state);
  return place < 0 ? -1 : profile.lanes?.measures[place] ?? -1;
}

/**
 * A bucket of the timeline as a time of lanes.
 * @param {Profile} profile with both
 * @param {number} bucket
 * @returns {number} ticks, maybe beyond the lanes
 */
export function tickOfBucket(profile, bucket) {
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const lanes = /** @type {LaneSource} */ (profile.lanes);
  return (Number(timeline.start - lanes.start) + bucket * timeline.width) / lanes.tick;
}

/**
 * @param {Profile} profile with both
 * @param {number} tick
 * @returns {number} bucket of the timeline
 */
export function bucketOfTick(profile, tick) {
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const lanes = /** @type {LaneSource} */ (profile.lanes);
  const bucket = Math.floor((tick * lanes.tick - Number(timeline.start - lanes.start)) / timeline.width);
  return Math.min(timeline.buckets - 1, Math.max(0, bucket));
}

/**
 * The intervals of a state that count, in the range and the threads that are chosen.
 * @param {Profile} profile
 * @param {number} state of lanes
 * @param {{range: [number, number] | null, threads: number[] | null, label: string}} chosen
 * @param {(thread: number, node: number, from: number, to: number) => void} visit ticks, cut to the range; the root for no callstack
 */
export function eachWait(profile, state, chosen, visit) {
  if (chosen.label !== '') return;  // samples have labels, intervals have none
  const lanes = /** @type {LaneSource} */ (profile.lanes).lanes();
  const wanted = chosen.threads ? new Set(chosen.threads) : null;
  const [low, high] = chosen.range ? [tickOfBucket(profile, chosen.range[0]), tickOfBucket(profile, chosen.range[1] + 1)] : [0, Infinity];
  lanes.threads.forEach((thread, lane) => {
    if (thread.waitsForWork || (wanted && !wanted.has(thread.row))) return;
    let from = 0;
    const first = low > 0 ? lanes.firstAfter(lane, low) : lanes.first[lane];
    if (first > lanes.first[lane]) from = lanes.end[first - 1];
    for (let at = first; at < lanes.first[lane + 1] && from < high; at++) {
      const to = lanes.end[at];
      if (lanes.state[at] === state) {
        const spot = lanes.spot[at];
        const node = spot === 0 ? 0 : Math.max(0, lanes.nodeOf(lanes.spotStack[spot - 1]));
        visit(thread.row, node, Math.max(from, low), Math.min(to, high));
      }
      from = to;
    }
  });
}

/**
 * Own weights of nodes.
 * @param {Profile} profile
 * @param {number} state of lanes
 * @param {{range: [number, number] | null, threads: number[] | null, label: string}} chosen
 * @returns {Float64Array} ns by node
 */
export function waitSelf(profile, state, chosen) {
  const self = new Float64Array(profile.tree.count);
  const tick = profile.lanes?.tick ?? 1;
  eachWait(profile, state, chosen, (_, node, from, to) => { self[node] += (to - from) * tick; });
  return self;
}

/**
 * As weightColumns of samples.
 * @param {Profile} profile with lanes and timeline
 * @param {number} state of lanes
 * @param {number} size buckets of a column
 * @param {(node: number) => number} kindOf
 * @returns {{size: number, byThread: Float32Array[], all: Float32Array, byKind: Float32Array[], totals: Float64Array}}
 */
export function waitColumns(profile, state, size, kindOf) {
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const tick = profile.lanes?.tick ?? 1;
  const count = Math.ceil(timeline.buckets / size);
  const start = tickOfBucket(profile, 0);
  const width = (size * timeline.width) / tick;
  const byThread = profile.threads.map(() => new Float32Array(0));
  /** @type {Float32Array[]} */
  const byKind = [];
  const all = new Float32Array(count);
  const totals = new Float64Array(profile.threads.length);
  eachWait(profile, state, { range: null, threads: null, label: '' }, (thread, node, from, to) => {
    const kind = kindOf(node);
    byKind[kind] ??= new Float32Array(count);
    if (byThread[thread].length === 0) byThread[thread] = new Float32Array(count);
    totals[thread] += (to - from) * tick;
    const last = Math.min(count - 1, Math.floor((to - start) / width));
    for (let column = Math.max(0, Math.floor((from - start) / width)); column <= last; column++) {
      const begin = Math.max(from, start + column * width);
      const part = Math.max(0, Math.min(to, start + (column + 1) * width) - begin) * tick;
      for (const sums of [byThread[thread], byKind[kind], all]) sums[column] += part;
    }
  });
  return { size, byThread, all, byKind, totals };
}

// Callstacks in the order of time: a band of rows for each thread, boxes as wide as they last. Neighbours that agree are one box.
import { NO_FUNCTION } from './function_names.js';
import { GrowingFloats, GrowingUints } from './growing_list.js';
import { eachWait, stateOfMeasure } from './lane_weights.js';
import { rowChoice, rowsOfRange } from './sample_filter.js';

/** Bands of the threads that weigh most. */
const MOST_BANDS = 50;
/** A sample stands for the time up to the next one of its thread, unless that is as many times farther away than usual. */
const LONGEST_GAP = 2.5;

/**
 * Stretches of a thread, by time: start, end and node, in ns from the begin of the timeline.
 * @typedef {{thread: number, weight: number, starts: number[], ends: number[], nodes: number[]}} ChartBand
 */

/**
 * @param {Profile} profile with a timeline
 * @param {ViewState} state
 * @returns {ChartBand[]} the heaviest first
 */
export function chartBands(profile, state) {
  const waits = stateOfMeasure(profile, state.measure);
  const bands = waits >= 0 ? bandsOfWaits(profile, waits, state) : bandsOfSamples(profile, state);
  return bands.sort((a, b) => b.weight - a.weight || a.thread - b.thread).slice(0, MOST_BANDS);
}

/**
 * @param {Profile} profile
 * @param {number} waits state of lanes
 * @param {ViewState} state
 * @returns {ChartBand[]} exact: intervals have a begin and an end
 */
function bandsOfWaits(profile, waits, state) {
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const lanes = /** @type {LaneSource} */ (profile.lanes);
  const shift = Number(lanes.start - timeline.start);
  /** @type {Map<number, ChartBand>} */
  const bands = new Map();
  eachWait(profile, waits, state, (thread, node, from, to) => {
    if (to <= from) return;
    const band = bandOf(bands, thread);
    band.weight += to - from;
    band.starts.push(shift + from * lanes.tick);
    band.ends.push(shift + to * lanes.tick);
    band.nodes.push(node);
  });
  return Array.from(bands.values());
}

/**
 * @param {Map<number, ChartBand>} bands
 * @param {number} thread
 * @returns {ChartBand}
 */
function bandOf(bands, thread) {
  let band = bands.get(thread);
  if (!band) bands.set(thread, band = { thread, weight: 0, starts: [], ends: [], nodes: [] });
  return band;
}

/**
 * Samples of a bucket share its time by weight, in the order of the tree; the one that the bucket before ended with comes first.
 * @param {Profile} profile
 * @param {ViewState} state
 * @returns {ChartBand[]}
 */
function bandsOfSamples(profile, state) {
  const { bucket, thread, node, value, measure, width } = /** @type {Timeline} */ (profile.timeline);
  const [from, to] = rowsOfRange(/** @type {Timeline} */ (profile.timeline), state.range);
  const wanted = rowChoice(profile, state);
  /** @type {Map<number, {bucket: number, rows: number[]}[]>} */
  const lists = new Map();
  for (let row = from; row < to; row++) {
    if (measure[row] !== state.measure || !wanted(row) || value[row] === 0) continue;
    let list = lists.get(thread[row]);
    if (!list) lists.set(thread[row], list = []);
    const last = list[list.length - 1];
    if (last && last.bucket === bucket[row]) last.rows.push(row);
    else list.push({ bucket: bucket[row], rows: [row] });
  }
  return Array.from(lists, ([index, list]) => {
    /** @type {ChartBand} */
    const band = { thread: index, weight: 0, starts: [], ends: [], nodes: [] };
    const longest = Math.max(1, usualStep(list) * LONGEST_GAP);
    let before = -1;
    list.forEach(({ bucket: at, rows }, k) => {
      const next = k + 1 < list.length ? list[k + 1].bucket : at + 1;
      const begin = at * width;
      const end = (next - at <= longest ? next : at + Math.ceil(usualStep(list))) * width;
      // Those of other labels follow each other.
      rows.sort((a, b) => node[a] - node[b]);
      const sum = rows.reduce((all, row) => all + value[row], 0);
      const first = rows.findIndex((row) => node[row] === before);
      if (first > 0) rows.unshift(...rows.splice(first, 1));
      let start = begin;
      rows.forEach((row, place) => {
        const stop = place + 1 === rows.length ? end : start + ((end - begin) * value[row]) / sum;
        band.starts.push(start);
        band.ends.push(stop);
        band.nodes.push(node[row]);
        start = stop;
      });
      before = node[rows[rows.length - 1]];
      band.weight += sum;
    });
    return band;
  });
}

/**
 * @param {{bucket: number}[]} list by bucket
 * @returns {number} median distance of neighbours, in buckets
 */
function usualStep(list) {
  if (list.length < 2) return 1;
  const steps = list.slice(1).map((entry, k) => entry.bucket - list[k].bucket).sort((a, b) => a - b);
  return steps[steps.length >> 1];
}

/**
 * @param {Tree} tree
 * @param {ChartBand[]} bands
 * @param {[number, number]} span ns from the begin of the timeline
 * @param {(thread: number) => number} fnOfThread the number that stands for a thread
 * @param {number} skipped function that is left out next to the root
 * @returns {ViewTree} whose weights are ns; rows of a band lie below those of the one before
 */
export function chartTree(tree, bands, span, fnOfThread, skipped = NO_FUNCTION) {
  const boxes = new ChartBoxes(span[0], skipped);
  const all = span[1] - span[0];
  boxes.open(NO_FUNCTION, 0, 0, span[0]);
  let row = 1;
  for (const band of bands) {
    const own = boxes.open(fnOfThread(band.thread), 0, row, span[0]);
    const deepest = boxes.add(tree, band, own, row);
    boxes.close(own, span[1]);
    row += deepest + 1;
  }
  boxes.close(0, span[1]);
  return boxes.finish(all);
}

/** A box for each stretch in which a function stays at its place. In the order in which they begin: parents before children, a subtree at a time. */
class ChartBoxes {
  /**
   * @param {number} origin
   * @param {number} skipped
   */
  constructor(origin, skipped) {
    this.origin = origin;
    this.skipped = skipped;
    this.fn = new GrowingUints();
    this.parent = new GrowingUints();
    this.depth = new GrowingUints();
    this.left = new GrowingFloats();
    this.total = new GrowingFloats();
  }

  /**
   * @param {number} fn
   * @param {number} parent
   * @param {number} depth
   * @param {number} start
   * @returns {number} its node
   */
  open(fn, parent, depth, start) {
    this.fn.push(fn);
    this.parent.push(parent);
    this.depth.push(depth);
    this.left.push(start - this.origin);
    this.total.push(0);
    return this.fn.length - 1;
  }

  /**
   * @param {number} node
   * @param {number} end
   */
  close(node, end) {
    this.total.values[node] = end - this.origin - this.left.values[node];
  }

  /**
   * @param {Tree} tree
   * @param {ChartBand} band
   * @param {number} own box of the band
   * @param {number} row of it
   * @returns {number} rows below it
   */
  add(tree, band, own, row) {
    /** @type {{fn: number, box: number}[]} open boxes */
    const open = [];
    let end = 0;
    let deepest = 0;
    band.nodes.forEach((node, k) => {
      const path = [];
      for (let at = node; at !== 0; at = tree.parent[at]) path.push(tree.fn[at]);
      if (path[path.length - 1] === this.skipped) path.pop();
      path.reverse();
      let same = 0;
      if (k > 0 && band.starts[k] === end) while (same < open.length && same < path.length && open[same].fn === path[same]) same++;
      while (open.length > same) this.close(/** @type {{box: number}} */ (open.pop()).box, end);
      for (let depth = same; depth < path.length; depth++) {
        const parent = depth === 0 ? own : open[depth - 1].box;
        open.push({ fn: path[depth], box: this.open(path[depth], parent, row + depth + 1, band.starts[k]) });
      }
      deepest = Math.max(deepest, path.length);
      end = band.ends[k];
    });
    while (open.length > 0) this.close(/** @type {{box: number}} */ (open.pop()).box, end);
    return deepest;
  }

  /**
   * @param {number} all ns
   * @returns {ViewTree}
   */
  finish(all) {
    const count = this.fn.length;
    const parent = this.parent.toArray();
    const end = new Uint32Array(count);
    for (let node = count - 1; node >= 0; node--) {
      end[node] = Math.max(end[node], node + 1);
      if (node > 0 && end[parent[node]] < end[node]) end[parent[node]] = end[node];
    }
    return { count, fn: this.fn.toArray(), parent, end, depth: this.depth.toArray(), left: this.left.toArray(), total: this.total.toArray(),
      old: null, whole: [all, 0], rootFn: NO_FUNCTION, pruned: false, bands: true, unit: 'ns', below: new Float64Array(count) };
  }
}

// The intervals of threads, as the data of a page have them: docs/page-format.md, "Lanes".
import { PageCursor, numbersOf } from './page_bytes.js';

/** States of intervals, by number; a gap is no interval. */
export const LANE_STATES = ['running', 'blocked', 'woken', 'preempted', 'awake', 'unknown'];
export const RUNNING = 0;
export const LANE_GAP = 6;
const STATE_MASK = 7;
const FLAG_SHIFT = 3;
/** Which column has the length of an interval, by state: running; waits and gaps; able to run. */
const LENGTH_GROUP = [0, 1, 2, 2, 1, 1, 1, 1];
const SAME_AS_BEFORE = 1;
const FIRST_RANK = 2;
/** How many intervals stand between two sums that are kept. */
const SUM_STEP = 16;

/** Bits that are taken at once: with those that are left of a byte they are fewer than 32. */
const MOST_BITS = 24;

/** Bits, low ones first. */
class BitCursor {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.open = 0;
    this.count = 0;
  }

  /**
   * @param {number} count below 32
   * @returns {number}
   */
  take(count) {
    if (count > MOST_BITS) return this.take(MOST_BITS) + this.take(count - MOST_BITS) * 2 ** MOST_BITS;
    for (; this.count < count; this.count += 8) this.open |= this.bytes[this.at++] << this.count;
    const value = this.open & ((1 << count) - 1);
    this.open >>>= count;
    this.count -= count;
    return value;
  }
}

/**
 * @param {Lanes} lanes
 * @param {Uint8Array} codes
 * @param {Uint8Array[]} groups of lengths
 * @param {Uint8Array} bits
 */
function readIntervals(lanes, codes, groups, bits) {
  const cursor = new BitCursor(bits);
  const places = [0, 0, 0];
  let at = 0;
  for (let lane = 0; lane < lanes.threads.length; lane++) {
    let now = 0;
    for (const last = lanes.first[lane + 1]; at < last; at++) {
      const state = codes[at] & STATE_MASK;
      const group = LENGTH_GROUP[state];
      const width = groups[group][places[group]++];
      if (width > 1) now += cursor.take(width - 1) + 2 ** (width - 1);
      else now += width;
      lanes.state[at] = state;
      lanes.flags[at] = codes[at] >> FLAG_SHIFT;
      lanes.end[at] = now;
    }
  }
  if (places.some((place, group) => place !== groups[group].length) || cursor.at > bits.length) {
    throw new Error('the data of this page are damaged');
  }
}

/**
 * Codes that repeat within a lane, one for each interval that waits.
 * @param {Lanes} lanes
 * @param {Uint8Array} bytes
 * @param {Uint32Array} target row + 1, 0 for none
 */
function readRepeated(lanes, bytes, target) {
  const { state, first } = lanes;
  let place = 0;
  for (let lane = 0; lane < lanes.threads.length; lane++) {
    let before = 0;
    for (let at = first[lane], last = first[lane + 1]; at < last; at++) {
      if (state[at] === RUNNING || state[at] >= LANE_GAP) continue;
      let byte = bytes[place++];
      let code = byte & 127;
      for (let shift = 7; byte >= 128; shift += 7) {
        byte = bytes[place++];
        code |= (byte & 127) << shift;
      }
      if (code >= FIRST_RANK) before = code - FIRST_RANK + 1;
      target[at] = code >= SAME_AS_BEFORE ? before : 0;
    }
  }
  if (place !== bytes.length) throw new Error('the data of this page are damaged');
}

/**
 * The intervals of all threads. `at` is the number of an interval: those of lane n are
 * first[n] to first[n + 1] - 1, in order of time, and each begins where the one before it ends.
 */
export class Lanes {
  /**
   * @param {any} head
   * @param {Uint8Array} bytes
   */
  constructor(head, bytes) {
    this.start = BigInt(head.start);
    /** Nanoseconds of a tick. */
    this.tick = head.tick;
    this.ticks = Math.max(1, head.ticks);
    /** @type {LaneThread[]} */
    this.threads = head.threads.map((/** @type {any[]} */ row) => ({ pid: row[0], tid: row[1], process: row[2], thread: row[3],
      row: row[4], waitsForWork: row[5] }));
    /** @type {string[]} */
    this.reasons = head.reasons;
    this.count = head.intervals;
    this.first = new Uint32Array(this.threads.length + 1);
    head.threads.forEach((/** @type {any[]} */ row, /** @type {number} */ lane) => { this.first[lane + 1] = this.first[lane] + row[6]; });
    this.end = new Float64Array(this.count);
    this.state = new Uint8Array(this.count);
    this.flags = new Uint8Array(this.count);
    this.spot = new Uint32Array(this.count);
    this.waker = new Uint32Array(this.count);
    /** Nodes at which callstacks end. */
    this.nodes = new Uint32Array(0);
    /** Why and where, by spot - 1: rows of reasons; callstacks + 1, 0 for none. */
    this.spotReason = new Uint32Array(0);
    this.spotStack = new Uint32Array(0);
    /** @type {Waker[]} by waker - 1 */
    this.wakers = [];
    this.decode(head, bytes);
    this.sums = this.addUp();
  }

  /**
   * @param {any} head
   * @param {Uint8Array} bytes
   */
  decode(head, bytes) {
    const cursor = new PageCursor(bytes);
    const next = () => cursor.take(cursor.varint());
    this.nodes = numbersOf(next(), head.callstacks);
    const spots = numbersOf(next(), 2 * head.spots);
    this.spotReason = spots.filter((_, k) => k % 2 === 0);
    this.spotStack = spots.filter((_, k) => k % 2 === 1);
    const wakers = numbersOf(next(), 4 * head.wakers);
    this.wakers = Array.from({ length: head.wakers }, (_, k) => ({ kind: wakers[4 * k], tid: wakers[4 * k + 1],
      lane: wakers[4 * k + 2] - 1, node: this.nodeOf(wakers[4 * k + 3]) }));
    const codes = next();
    if (codes.length !== this.count || this.first[this.threads.length] !== this.count) throw new Error('the data of this page are damaged');
    const groups = [next(), next(), next()];
    readIntervals(this, codes, groups, next());
    readRepeated(this, next(), this.spot);
    readRepeated(this, next(), this.waker);
  }

  /**
   * @param {number} stack row + 1
   * @returns {number} node, -1 without a callstack
   */
  nodeOf(stack) {
    return stack === 0 ? -1 : this.nodes[stack - 1] ?? -1;
  }

  /**
   * Sums of states before each SUM_STEP-th interval of a lane, lane by lane.
   * @returns {{place: Uint32Array, values: Float64Array}}
   */
  addUp() {
    const kinds = LANE_STATES.length;
    const place = new Uint32Array(this.threads.length + 1);
    for (let lane = 0; lane < this.threads.length; lane++) {
      place[lane + 1] = place[lane] + Math.ceil((this.first[lane + 1] - this.first[lane]) / SUM_STEP);
    }
    const values = new Float64Array(place[this.threads.length] * kinds);
    const now = new Float64Array(kinds + 1);
    for (let lane = 0, row = 0; lane < this.threads.length; lane++) {
      now.fill(0);
      let before = 0;
      for (let at = this.first[lane], k = 0; at < this.first[lane + 1]; at++, k++) {
        if (k % SUM_STEP === 0) values.set(now.subarray(0, kinds), kinds * row++);
        now[this.state[at]] += this.end[at] - before;
        before = this.end[at];
      }
    }
    return { place, values };
  }

  /**
   * @param {number} lane
   * @param {number} at of the lane
   * @returns {number} ticks
   */
  startOf(lane, at) {
    return at === this.first[lane] ? 0 : this.end[at - 1];
  }

  /**
   * @param {number} at
   * @returns {number}
   */
  laneOf(at) {
    let low = 0;
    let high = this.threads.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.first[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * The first interval of a lane that ends after a time.
   * @param {number} lane
   * @param {number} tick
   * @param {number} [from] no earlier one
   * @returns {number} that of the next lane when there is none
   */
  firstAfter(lane, tick, from = this.first[lane]) {
    let low = from;
    let high = this.first[lane + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] <= tick) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Time in each state from the start to a tick.
   * @param {number} lane
   * @param {number} at the first interval that ends after it
   * @param {number} tick
   * @param {Float64Array} sums replaced
   */
  sumsBefore(lane, at, tick, sums) {
    const kinds = LANE_STATES.length;
    const first = this.first[lane];
    const last = this.first[lane + 1];
    sums.fill(0);
    if (first === last) return;
    const step = Math.floor((Math.min(at, last - 1) - first) / SUM_STEP);
    const row = (this.sums.place[lane] + step) * kinds;
    for (let kind = 0; kind < kinds; kind++) sums[kind] = this.sums.values[row + kind];
    let now = first + step * SUM_STEP;
    let before = this.startOf(lane, now);
    for (; now < at; now++) {
      sums[this.state[now]] += this.end[now] - before;
      before = this.end[now];
    }
    if (now < last && tick > before) sums[this.state[now]] += tick - before;
  }

  /**
   * Time in each state within a range.
   * @param {number} lane
   * @param {number} from ticks
   * @param {number} to
   * @returns {Float64Array} by state, in ticks
   */
  sumsWithin(lane, from, to) {
    const before = new Float64Array(LANE_GAP + 2);
    const after = new Float64Array(LANE_GAP + 2);
    this.sumsBefore(lane, this.firstAfter(lane, from), from, before);
    this.sumsBefore(lane, this.firstAfter(lane, to), to, after);
    return after.map((value, kind) => value - before[kind]).subarray(0, LANE_STATES.length);
  }

  /**
   * Time in each state by column of equal width: what is drawn.
   * @param {number} lane
   * @param {number} from ticks
   * @param {number} to
   * @param {number} columns
   * @returns {Float32Array} column by column, by state: fractions of the column
   */
  columns(lane, from, to, columns) {
    const kinds = LANE_STATES.length;
    const width = (to - from) / columns;
    const parts = new Float32Array(columns * kinds);
    const sums = [new Float64Array(LANE_GAP + 2), new Float64Array(LANE_GAP + 2)];
    const last = this.first[lane + 1];
    let at = this.firstAfter(lane, from);
    let known = false;  // whether sums[0] is that of the edge
    for (let column = 0; column < columns && at < last; column++) {
      const [left, right] = [from + column * width, from + (column + 1) * width];
      if (this.end[at] > right && this.startOf(lane, at) <= left) {
        if (this.state[at] < kinds) parts[column * kinds + this.state[at]] = 1;
        known = false;
        continue;
      }
      if (!known) this.sumsBefore(lane, at, left, sums[0]);
      at = this.firstAfter(lane, right, at);
      this.sumsBefore(lane, at, right, sums[1]);
      for (let kind = 0; kind < kinds; kind++) parts[column * kinds + kind] = (sums[1][kind] - sums[0][kind]) / width;
      sums.reverse();
      known = true;
    }
    return parts;
  }
}

// Lanes: what the data say of intervals, and their sums, beside plain sums over lists of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { LANE_GAP, LANE_STATES, Lanes } from '../../src/export/page/lane_data.js';
import { wakerInterval } from '../../src/export/page/lane_details.js';
import { fillLane } from '../../src/export/page/lane_painter.js';
import { laneRows, nodesOfInterval, stateText } from '../../src/export/page/lane_rows.js';
import { bucketOfTick, tickOfBucket } from '../../src/export/page/lane_weights.js';
import { rootedTree, rootOwners } from '../../src/export/page/rooted_tree.js';
import { selectedWeights, weightColumns } from '../../src/export/page/sample_filter.js';
import { linkOfState, START_STATE, stateOfLink } from '../../src/export/page/view_link.js';
import { timedProfile } from './folded_profile.js';

const GROUPS = [0, 1, 2, 2, 1, 1, 1];

function varint(bytes, value) {
  while (value >= 128) {
    bytes.push((value % 128) | 128);
    value = Math.floor(value / 128);
  }
  bytes.push(value);
}

/** As docs/page-format.md says; lanes are lists of {length, state, flags, spot, waker}. */
function encode(lanes, { nodes, spots, wakers, reasons, threads }) {
  const columns = Array.from({ length: 10 }, () => []);
  const bits = [];
  nodes.forEach((node) => varint(columns[0], node));
  spots.flat().forEach((value) => varint(columns[1], value));
  wakers.flat().forEach((value) => varint(columns[2], value));
  for (const lane of lanes) {
    const before = [0, 0];
    for (const { length, state, flags = 0, spot = 0, waker = 0 } of lane) {
      columns[3].push(state | (flags << 3));
      const width = length === 0 ? 0 : Math.floor(Math.log2(length)) + 1;
      columns[4 + GROUPS[state]].push(width);
      for (let bit = 0; bit < width - 1; bit++) bits.push(Math.floor(length / 2 ** bit) % 2);
      if (state === 0 || state === LANE_GAP) continue;
      [spot, waker].forEach((value, k) => {
        varint(columns[8 + k], value === 0 ? 0 : value === before[k] ? 1 : value + 1);
        if (value !== 0) before[k] = value;
      });
    }
  }
  for (let k = 0; k < bits.length; k += 8) columns[7].push(bits.slice(k, k + 8).reduce((byte, bit, place) => byte | (bit << place), 0));
  const bytes = [];
  for (const column of columns) {
    varint(bytes, column.length);
    for (const byte of column) bytes.push(byte);
  }
  const head = { start: '1000', tick: 10, ticks: Math.max(...lanes.map((lane) => lane.reduce((sum, { length }) => sum + length, 0))),
    intervals: lanes.flat().length, callstacks: nodes.length, spots: spots.length, wakers: wakers.length, reasons, measures: [1, 2, -1],
    threads: threads.map((thread, k) => [...thread, lanes[k].length]) };
  return { head, bytes: Uint8Array.from(bytes) };
}

let seed = 7;
const random = (below) => {
  seed = (seed * 48271) % 2147483647;
  return seed % below;
};

/** Three lanes of many intervals, all kinds of them; node 0 is the root. */
function manyIntervals(count = 700) {
  const lanes = [0, 1, 2].map((lane) => Array.from({ length: count + lane * 5 }, (_, k) => {
    const state = random(7);
    const length = random(5) === 0 ? 0 : random(3) === 0 ? random(200000) : random(40);
    return state === 0 || state === LANE_GAP ? { length, state } : { length, state, flags: random(32), spot: random(4), waker: k % 3 === 0 ? 0 : random(4) };
  }));
  const tables = { nodes: [3, 1, 2], spots: [[0, 0], [1, 2], [2, 1]], wakers: [[1, 71, 2, 3], [2, 0, 0, 0], [1, 99, 0, 0]], reasons: ['', 'S', 'D'],
    threads: [[100, 1000, 'process 0', 'thread 0', 0, false], [100, 1001, 'process 0', 'thread 1', 1, false], [101, 1002, 'process 1', 'thread 2', 2, true]] };
  const { head, bytes } = encode(lanes, tables);
  return { lanes, read: new Lanes(head, bytes), head, bytes };
}

/** [from, to, interval] of a lane. */
function placed(lane) {
  let now = 0;
  return lane.map((interval) => {
    const from = now;
    now += interval.length;
    return [from, now, interval];
  });
}
const overlap = (from, to, low, high) => Math.max(0, Math.min(to, high) - Math.max(from, low));

test('intervals are read as they were written', () => {
  const { lanes, read } = manyIntervals();
  lanes.forEach((lane, number) => {
    placed(lane).forEach(([from, to, { state, flags = 0, spot = 0, waker = 0 }], k) => {
      const at = read.first[number] + k;
      assert.deepEqual([read.startOf(number, at), read.end[at], read.state[at], read.flags[at], read.spot[at], read.waker[at]],
        [from, to, state, flags, spot, waker]);
      assert.equal(read.laneOf(at), number);
    });
  });
  assert.deepEqual(read.wakers[0], { kind: 1, tid: 71, lane: 1, node: 2 });
  assert.deepEqual(read.wakers[1], { kind: 2, tid: 0, lane: -1, node: -1 });
});

test('the interval at a time is the first one that ends after it', () => {
  const { lanes, read } = manyIntervals(90);
  lanes.forEach((lane, number) => {
    const rows = placed(lane);
    for (const [from, to] of rows) {
      for (const tick of [from, to, (from + to) / 2]) {
        const place = rows.findIndex((row) => row[1] > tick);
        assert.equal(read.firstAfter(number, tick), read.first[number] + (place < 0 ? lane.length : place));
      }
    }
  });
});

test('damaged intervals are an error', () => {
  const { head, bytes } = manyIntervals(20);
  for (const change of [{ intervals: head.intervals + 1 }, { callstacks: 4 }, { threads: head.threads.slice(1) }]) {
    assert.throws(() => new Lanes({ ...head, ...change }, bytes), /damaged|too early/);
  }
  assert.throws(() => new Lanes(head, bytes.subarray(0, bytes.length - 300)), /damaged|too early/);
});

test('time by state within any range is a plain sum', () => {
  const { lanes, read } = manyIntervals();
  for (let k = 0; k < 300; k++) {
    const number = random(3);
    const low = random(read.ticks);
    const high = low + random(k % 2 ? 60 : read.ticks);
    const sums = new Array(LANE_STATES.length).fill(0);
    for (const [from, to, { state }] of placed(lanes[number])) if (state !== LANE_GAP) sums[state] += overlap(from, to, low, high);
    assert.deepEqual(Array.from(read.sumsWithin(number, low, high)), sums);
  }
});

test('columns of pixels have the time of each state, at any zoom', () => {
  const { lanes, read } = manyIntervals();
  for (const [low, high, count] of [[0, read.ticks, 50], [0, read.ticks, 1000], [1000, 1100, 400], [read.ticks / 3, read.ticks / 2, 333], [5, 6, 10]]) {
    lanes.forEach((lane, number) => {
      const parts = read.columns(number, low, high, count);
      const width = (high - low) / count;
      const rows = placed(lane);
      for (let column = 0; column < count; column += 7) {
        const sums = new Array(LANE_STATES.length).fill(0);
        for (const [from, to, { state }] of rows) if (state !== LANE_GAP) sums[state] += overlap(from, to, low + column * width, low + (column + 1) * width) / width;
        sums.forEach((sum, state) => assert.ok(Math.abs(parts[column * LANE_STATES.length + state] - sum) < 1e-4, `${low} ${count} ${column} ${state}`));
      }
    });
  }
});

test('a column of pixels is as high as its sums', () => {
  const kinds = LANE_STATES.length;
  const parts = new Float32Array(3 * kinds);
  parts[0] = 1;  // all running
  parts.set([0.25, 0.5], kinds);  // a quarter running, a half blocked, the rest nothing
  const pixels = new Uint32Array(5 * 8).fill(99);
  fillLane(pixels, 5, { x: 1, y: 2, width: 3, height: 4 }, parts, Uint32Array.from([10, 11, 12, 13, 14, 15]));
  const column = (x) => Array.from({ length: 8 }, (_, y) => pixels[y * 5 + x]);
  assert.deepEqual(column(1), [99, 99, 10, 10, 10, 10, 99, 99]);
  assert.deepEqual(column(2), [99, 99, 99, 14, 14, 10, 99, 99]);
  assert.deepEqual([column(0), column(3), column(4)].flat(), new Array(24).fill(99));
  fillLane(pixels, 5, { x: 0, y: 6, width: 3, height: 4 }, parts, new Uint32Array(6).fill(7));
  assert.equal(pixels.length, 40);
});

/** A profile of samples whose measures 1 and 2 are time blocked and woken. */
function profileWithLanes() {
  const { lanes, read, head } = manyIntervals();
  const profile = timedProfile('main;a 3\nmain;b 4\nmain;b;c 5\n', 40, 3);
  // Buckets of 1000 ns begin 2000 ns after the lanes.
  Object.assign(profile.timeline, { start: 3000n, width: 1000 });
  profile.lanes = { start: 1000n, tick: 10, ticks: head.ticks, count: head.intervals, measures: head.measures, lanes: () => read };
  profile.measures.push({ name: 'blocked', unit: 'ns' }, { name: 'woken', unit: 'ns' });
  profile.self[0].push(new Float64Array(profile.tree.count), new Float64Array(profile.tree.count));
  return { profile, lanes, read };
}

/** Nanoseconds by node: plain sums. */
function plainSelf(lanes, read, state, low, high, numbers) {
  const self = new Map();
  for (const number of numbers) {
    for (const [from, to, interval] of placed(lanes[number])) {
      const stack = interval.spot ? read.spotStack[interval.spot - 1] : 0;
      const node = stack ? read.nodes[stack - 1] : 0;
      if (interval.state === state) self.set(node, (self.get(node) ?? 0) + overlap(from, to, low, high) * 10);
    }
  }
  return Array.from(self).filter(([, value]) => value > 0).sort((a, b) => a[0] - b[0]);
}

test('a range counts the time of waits in it, without threads that wait for work', () => {
  const { profile, lanes, read } = profileWithLanes();
  assert.equal(tickOfBucket(profile, 0), 200);
  assert.equal(bucketOfTick(profile, 350), 1);
  assert.equal(bucketOfTick(profile, 0), 0);
  assert.equal(bucketOfTick(profile, 1e9), 39);
  for (const [measure, state] of [[1, 1], [2, 2]]) {
    for (const [threads, numbers] of [[null, [0, 1]], [[1], [1]], [[2], []]]) {
      const { self } = selectedWeights(profile, { ...START_STATE, measure, range: [3, 12], threads });
      const found = Array.from(self.entries()).filter(([, value]) => value > 0);
      assert.deepEqual(found, plainSelf(lanes, read, state, 500, 1500, numbers));
    }
  }
});

test('waits over time add up, and stand below their threads', () => {
  const { profile, lanes, read } = profileWithLanes();
  const { all, byThread, byKind, totals } = weightColumns(profile, 1, 8, (node) => node);
  assert.equal(all.length, 5);
  for (let column = 0; column < 5; column++) {
    const [low, high] = [200 + column * 800, 200 + (column + 1) * 800];
    const plain = plainSelf(lanes, read, 1, low, high, [0, 1]);
    assert.ok(Math.abs(all[column] - plain.reduce((sum, [, value]) => sum + value, 0)) < 1, `column ${column}`);
    for (const [node, value] of plain) assert.ok(Math.abs(byKind[node][column] - value) < 1);
  }
  assert.equal(byThread[2].length, 0);
  const whole = [0, 1].map((number) => plainSelf(lanes, read, 1, 0, Infinity, [number]).reduce((sum, [, value]) => sum + value, 0));
  assert.deepEqual(Array.from(totals), [...whole, 0]);
  const owners = rootOwners(profile);
  const { tree, self } = rootedTree(profile, profile.tree, { ...START_STATE, measure: 1, root: 'thread' }, owners);
  assert.equal(self.reduce((sum, value) => sum + value, 0), whole[0] + whole[1]);
  assert.equal(tree.fn[1], owners.first + 2 + (whole[0] > whole[1] ? 0 : 1));
});

test('lanes come by process and activity', () => {
  const tables = { nodes: [], spots: [], wakers: [], reasons: [''], threads: [[1, 11, 'idle one', 'x', -1, false], [2, 21, 'busy', 'slow', -1, false],
    [2, 22, 'busy', 'fast', -1, false]] };
  const { head, bytes } = encode([[{ length: 9, state: 1 }, { length: 1, state: 0 }], [{ length: 2, state: 0 }, { length: 8, state: 1 }],
    [{ length: 5, state: 3 }, { length: 5, state: 1 }]], tables);
  const rows = laneRows(new Lanes(head, bytes));
  assert.deepEqual(rows.map((row) => [row.text, row.lane]), [['busy (2), 2 threads', -1], ['fast (22)', 2], ['slow (21)', 1], ['x (11)', 0]]);
});

test('an interval says why, where, and who ended it', () => {
  const tables = { nodes: [5, 6], spots: [[1, 1]], wakers: [[1, 22, 2, 2]], reasons: ['', 'S'], threads: [[1, 11, '', '', -1, false], [2, 22, '', '', -1, false]] };
  const { head, bytes } = encode([[{ length: 4, state: 1, spot: 1, waker: 1 }, { length: 3, state: 2, spot: 1, waker: 1 }, { length: 3, state: 0 }],
    [{ length: 3, state: 0 }, { length: 2, state: 3 }, { length: 5, state: 0 }]], tables);
  const read = new Lanes(head, bytes);
  assert.equal(stateText(read, 0), 'blocked (S)');
  assert.equal(stateText(read, 2), 'running');
  assert.deepEqual(nodesOfInterval(read, 0), { own: 5, waker: 6 });
  assert.deepEqual(nodesOfInterval(read, 2), { own: -1, waker: -1 });
  // The block ends at 4, in the second interval of the waker; what follows it says the same.
  assert.deepEqual([0, 1, 2].map((at) => wakerInterval(read, at)), [4, 4, -1]);
});

test('a link restores lanes, and a bad one gives none', () => {
  const { profile } = profileWithLanes();
  const state = { ...stateOfLink('', profile), view: 'lanes', span: [12.5, 800], interval: 44 };
  assert.deepEqual(stateOfLink(linkOfState(state, profile), profile), state);
  for (const [link, field, value] of [['span=9-3', 'span', null], ['span=0-99999999999', 'span', null], ['interval=999999', 'interval', -1]]) {
    assert.deepEqual(stateOfLink(link, profile)[field], value);
  }
  assert.equal(stateOfLink('view=lanes', { ...profile, lanes: null }).view, 'flame');
});

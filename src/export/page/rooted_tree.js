// Callstacks below the process or the thread that they ran in.
import { NO_FUNCTION } from './function_names.js';
import { GrowingFloats, GrowingUints } from './growing_list.js';
import { eachWait, stateOfMeasure } from './lane_weights.js';
import { rowsOfRange, threadMask } from './sample_filter.js';
import { shownText } from './shown_names.js';
import { brokenRootOf } from './unnamed_code.js';

/** Of more processes than this, those of one name are one box: a build has hundreds of compilers. */
const MOST_PROCESS_BOXES = 24;

/**
 * What callstacks may stand below: numbers of processes follow those of the functions, then those of threads.
 * @typedef {object} RootOwners
 * @property {number} first of the processes
 * @property {string[]} titles processes, then threads
 * @property {Uint32Array} processOf by thread
 */

/**
 * @param {Profile} profile
 * @returns {RootOwners}
 */
export function rootOwners(profile) {
  const keyOf = (/** @type {Thread} */ thread) => `${thread.pid} ${thread.process}`;
  const single = new Set(profile.threads.map(keyOf));
  /** @type {Map<string, Set<string>>} */
  const named = new Map();
  const groupOf = single.size > MOST_PROCESS_BOXES ? (/** @type {Thread} */ thread) => thread.process : keyOf;
  for (const thread of profile.threads) {
    const group = groupOf(thread);
    let members = named.get(group);
    if (!members) named.set(group, members = new Set());
    members.add(keyOf(thread));
  }
  const numbers = new Map(Array.from(named.keys(), (group, k) => [group, k]));
  const processOf = Uint32Array.from(profile.threads, (thread) => numbers.get(groupOf(thread)) ?? 0);
  /** @type {string[]} */
  const titles = new Array(named.size);
  profile.threads.forEach((thread, k) => {
    const members = named.get(groupOf(thread)) ?? new Set();
    titles[processOf[k]] = members.size > 1 ? `${shownText(thread.process) || '(no name)'}, ${members.size} processes` : ownerText(thread.process, thread.pid);
  });
  const threads = profile.threads.map((thread) => `${ownerText(thread.process, thread.pid)}, thread ${ownerText(thread.thread, thread.tid)}`);
  return { first: profile.functionCount, titles: titles.concat(threads), processOf };
}

/**
 * @param {string} name
 * @param {number} id -1: not recorded
 * @returns {string}
 */
function ownerText(name, id) {
  return (shownText(name) || (id === 0 ? 'idle' : '(no name)')) + (id >= 0 ? ` (${id})` : '');
}

/**
 * A recording of a machine: it has idle processors in it, or many processes.
 * @param {Profile} profile
 * @returns {boolean}
 */
export function isWholeMachine(profile) {
  if (!profile.timeline || profile.sides.length > 1) return false;
  const pids = new Set(profile.threads.slice(0, profile.sampledThreads || undefined).map((thread) => thread.pid));
  return pids.has(0) || pids.size >= 4;
}

/** A tree that grows by paths of another one. Children of a node have different functions. */
class OwnedTree {
  /**
   * @param {Tree} source
   * @param {number} numbers functions and owners have lower numbers
   * @param {number} skipped function that is left out next to the root: what it calls stands in its place
   */
  constructor(source, numbers, skipped) {
    this.source = source;
    this.numbers = numbers;
    this.skipped = skipped;
    this.fn = new GrowingUints();
    this.parent = new GrowingUints();
    this.self = new GrowingFloats();
    /** @type {Map<number, number>} by parent and function */
    this.known = new Map();
    this.owned = new Int32Array(source.count).fill(-1);  // by node of the source: the owner whose place is known
    this.place = new Uint32Array(source.count);
    this.add(0, NO_FUNCTION);
  }

  /**
   * @param {number} parent
   * @param {number} fn
   * @returns {number} its node
   */
  add(parent, fn) {
    this.fn.push(fn);
    this.parent.push(parent);
    this.self.push(0);
    return this.fn.length - 1;
  }

  /**
   * @param {number} number of the owner
   * @param {number} fn that stands for it
   */
  begin(number, fn) {
    this.number = number;
    this.place[0] = this.add(0, fn);
    this.owned[0] = number;
  }

  /**
   * @param {number} node of the source
   * @returns {number} its node below the owner that was begun last
   */
  placeOf(node) {
    const { source, owned, place } = this;
    const number = /** @type {number} */ (this.number);
    const path = [];
    let at = node;
    for (; owned[at] !== number; at = source.parent[at]) path.push(at);
    let parent = place[at];
    for (let k = path.length - 1; k >= 0; k--) {
      const one = path[k];
      if (source.parent[one] !== 0 || source.fn[one] !== this.skipped) parent = this.childOf(parent, source.fn[one]);
      owned[one] = number;
      place[one] = parent;
    }
    return parent;
  }

  /**
   * @param {number} parent
   * @param {number} fn
   * @returns {number}
   */
  childOf(parent, fn) {
    const key = parent * this.numbers + fn;
    let child = this.known.get(key);
    if (child === undefined) this.known.set(key, child = this.add(parent, fn));
    return child;
  }

  /** @returns {{tree: Tree, self: Float64Array}} depth first, the heaviest of siblings first */
  finish() {
    const count = this.fn.length;
    const parent = this.parent.values;
    const total = this.self.toArray();
    for (let node = count - 1; node > 0; node--) total[parent[node]] += total[node];
    const { first, children } = childLists(parent, total, count);
    const tree = { count, fn: new Uint32Array(count), parent: new Uint32Array(count), end: new Uint32Array(count), depth: new Uint32Array(count), ordered: true };
    const self = new Float64Array(count);
    const pending = [0];
    const above = [0];
    for (let number = 0; pending.length > 0; number++) {
      const node = /** @type {number} */ (pending.pop());
      const up = /** @type {number} */ (above.pop());
      tree.fn[number] = this.fn.values[node];
      self[number] = this.self.values[node];
      tree.parent[number] = up;
      tree.depth[number] = number === 0 ? 0 : tree.depth[up] + 1;
      for (let k = first[node + 1] - 1; k >= first[node]; k--) {
        pending.push(children[k]);
        above.push(number);
      }
    }
    for (let node = count - 1; node >= 0; node--) {
      tree.end[node] = Math.max(tree.end[node], node + 1);
      if (node > 0) tree.end[tree.parent[node]] = Math.max(tree.end[tree.parent[node]], tree.end[node]);
    }
    return { tree, self };
  }
}

/**
 * @param {Uint32Array} parent lower than its children
 * @param {Float64Array} total
 * @param {number} count
 * @returns {{first: Uint32Array, children: Uint32Array}} by node where its children begin, the heaviest first
 */
function childLists(parent, total, count) {
  const first = new Uint32Array(count + 2);
  for (let node = 1; node < count; node++) first[parent[node] + 2]++;
  for (let node = 2; node < first.length; node++) first[node] += first[node - 1];
  const children = new Uint32Array(Math.max(0, count - 1));
  for (let node = 1; node < count; node++) children[first[parent[node] + 1]++] = node;
  for (let node = 0; node < count; node++) {
    if (first[node + 1] - first[node] > 1) children.subarray(first[node], first[node + 1]).sort((a, b) => total[b] - total[a] || a - b);
  }
  return { first, children };
}

/**
 * The tree with owners between the root and the callstacks, and own weights of its nodes. What the rows of the
 * timeline cut is cut here, too. A sample without a callstack is the owner's own. Of a callstack whose root is not known the part
 * that is known stands directly in its owner.
 * @param {Profile} profile with a timeline
 * @param {Tree} source the profile's tree, or that of rows
 * @param {ViewState} state
 * @param {RootOwners} owners
 * @returns {{tree: Tree, self: Float64Array}}
 */
export function rootedTree(profile, source, state, owners) {
  const processes = owners.titles.length - profile.threads.length;
  const lists = rowsByOwner(profile, state, (thread) => (state.root === 'process' ? owners.processOf[thread] : processes + thread));
  const grown = new OwnedTree(source, owners.first + owners.titles.length, brokenRootOf(profile, source));
  lists.forEach(({ owner, rows }, number) => {
    grown.begin(number, owners.first + owner);
    for (const [leaf, value] of rows) {
      const node = grown.placeOf(leaf);
      grown.self.values[node] += value;
    }
  });
  return grown.finish();
}

/**
 * @param {Profile} profile
 * @param {ViewState} state
 * @param {(thread: number) => number} ownerOf
 * @returns {{owner: number, weight: number, rows: [number, number][]}[]} node and weight of rows that count, the heaviest owner first
 */
function rowsByOwner(profile, state, ownerOf) {
  const timeline = /** @type {Timeline} */ (profile.timeline);
  const waits = stateOfMeasure(profile, state.measure);
  if (waits >= 0) return waitsByOwner(profile, waits, state, ownerOf);
  const [from, to] = rowsOfRange(timeline, state.range);
  const wanted = threadMask(profile, state.threads);
  /** @type {Map<number, {owner: number, weight: number, rows: [number, number][]}>} */
  const lists = new Map();
  const { measure, thread, node, value } = timeline;
  for (let row = from; row < to; row++) {
    if (measure[row] !== state.measure || !wanted[thread[row]] || value[row] === 0) continue;
    const owner = ownerOf(thread[row]);
    let list = lists.get(owner);
    if (!list) lists.set(owner, list = { owner, weight: 0, rows: [] });
    list.weight += value[row];
    list.rows.push([node[row], value[row]]);
  }
  return Array.from(lists.values()).sort((a, b) => b.weight - a.weight || a.owner - b.owner);
}

/**
 * The same of time in which threads waited.
 * @param {Profile} profile
 * @param {number} waits state of lanes
 * @param {ViewState} state
 * @param {(thread: number) => number} ownerOf
 * @returns {ReturnType<typeof rowsByOwner>}
 */
function waitsByOwner(profile, waits, state, ownerOf) {
  const tick = profile.lanes?.tick ?? 1;
  /** @type {Map<number, Map<number, number>>} */
  const sums = new Map();
  eachWait(profile, waits, state, (thread, node, from, to) => {
    if (from === to) return;
    const owner = ownerOf(thread);
    let nodes = sums.get(owner);
    if (!nodes) sums.set(owner, nodes = new Map());
    nodes.set(node, (nodes.get(node) ?? 0) + (to - from) * tick);
  });
  return Array.from(sums, ([owner, nodes]) => {
    const rows = Array.from(nodes);
    return { owner, weight: rows.reduce((sum, [, value]) => sum + value, 0), rows };
  }).sort((a, b) => b.weight - a.weight || a.owner - b.owner);
}

// Callstacks below the process or the thread that they ran in.
import { NO_FUNCTION } from './function_names.js';
import { eachWait, stateOfMeasure } from './lane_weights.js';
import { rowsOfRange, threadMask } from './sample_filter.js';
import { shownText } from './shown_names.js';

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
  /** @type {Map<string, number>} */
  const processes = new Map();
  /** @type {string[]} */
  const titles = [];
  const processOf = Uint32Array.from(profile.threads, (thread) => {
    const key = `${thread.pid} ${thread.process}`;
    const known = processes.get(key);
    if (known !== undefined) return known;
    titles.push(ownerText(thread.process, thread.pid));
    processes.set(key, titles.length - 1);
    return titles.length - 1;
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

/** The part of a tree that one owner has: numbers of nodes, ascending, and their own weights. */
class OwnedNodes {
  /** @param {number} nodes */
  constructor(nodes) {
    this.owned = new Int32Array(nodes).fill(-1);  // by node: the owner that has it
    this.self = new Float64Array(nodes);
  }

  /**
   * @param {Tree} tree
   * @param {number} owner
   * @param {Iterable<[number, number]>} weights node and weight
   * @returns {Uint32Array} nodes with a weight and all above them, but for the root
   */
  collect(tree, owner, weights) {
    /** @type {number[]} */
    const nodes = [];
    for (const [leaf, value] of weights) {
      for (let node = leaf; this.owned[node] !== owner; node = tree.parent[node]) {
        this.owned[node] = owner;
        this.self[node] = 0;
        nodes.push(node);
        if (node === 0) break;
      }
      this.self[leaf] += value;
    }
    return Uint32Array.from(nodes).sort().subarray(nodes.length > 0 && this.owned[0] === owner ? 1 : 0);
  }
}

/**
 * The tree with owners between the root and the callstacks, and own weights of its nodes. What the rows of the
 * timeline cut is cut here, too. A sample without a callstack is the owner's own.
 * @param {Profile} profile with a timeline
 * @param {ViewState} state
 * @param {RootOwners} owners
 * @returns {{tree: Tree, self: Float64Array}}
 */
export function rootedTree(profile, state, owners) {
  const { tree } = profile;
  const processes = owners.titles.length - profile.threads.length;
  const lists = rowsByOwner(profile, state, (thread) => (state.root === 'process' ? owners.processOf[thread] : processes + thread));
  const nodes = new OwnedNodes(tree.count);
  const columns = { fn: [NO_FUNCTION], parent: [0], depth: [0], self: [0] };
  const place = new Uint32Array(tree.count);
  lists.forEach(({ owner, rows }, number) => {
    const mine = nodes.collect(tree, number, rows);
    place[0] = columns.fn.length;
    columns.fn.push(owners.first + owner);
    columns.parent.push(0);
    columns.depth.push(1);
    columns.self.push(nodes.owned[0] === number ? nodes.self[0] : 0);
    for (const node of mine) {
      place[node] = columns.fn.length;
      columns.fn.push(tree.fn[node]);
      columns.parent.push(place[tree.parent[node]]);
      columns.depth.push(tree.depth[node] + 1);
      columns.self.push(nodes.self[node]);
    }
  });
  const count = columns.fn.length;
  const parent = Uint32Array.from(columns.parent);
  const end = Uint32Array.from({ length: count }, (_, node) => node + 1);
  for (let node = count - 1; node > 0; node--) end[parent[node]] = Math.max(end[parent[node]], end[node]);
  return { self: Float64Array.from(columns.self),
    tree: { count, fn: Uint32Array.from(columns.fn), parent, end, depth: Uint32Array.from(columns.depth), ordered: false } };
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

// Which lanes stand where: processes with their threads, the most active ones first.
import { LANE_STATES, RUNNING } from './lane_data.js';
import { threadText } from './thread_table.js';
import { shownText } from './shown_names.js';

/**
 * A row of lanes; `lane` -1: the title of a process.
 * @typedef {{text: string, lane: number, inner: boolean}} LaneRow
 */

const ABLE = ['running', 'woken', 'preempted', 'awake'].map((name) => LANE_STATES.indexOf(name));

/**
 * @param {import('./lane_data.js').Lanes} lanes
 * @returns {LaneRow[]}
 */
export function laneRows(lanes) {
  const sums = lanes.threads.map((_, lane) => lanes.sumsWithin(lane, 0, lanes.ticks));
  const activity = sums.map((sum) => ABLE.reduce((able, state) => able + sum[state], 0));
  /** @type {Map<string, number[]>} */
  const processes = new Map();
  lanes.threads.forEach((thread, lane) => {
    const key = `${thread.pid} ${thread.process}`;
    const known = processes.get(key);
    if (known) known.push(lane);
    else processes.set(key, [lane]);
  });
  const busier = (/** @type {number} */ a, /** @type {number} */ b) => activity[b] - activity[a] || sums[b][RUNNING] - sums[a][RUNNING] || a - b;
  const groups = Array.from(processes.values(), (members) => ({ members: members.sort(busier),
    activity: members.reduce((sum, lane) => sum + activity[lane], 0) }));
  groups.sort((a, b) => b.activity - a.activity || a.members[0] - b.members[0]);
  return groups.flatMap(({ members }) => {
    const rows = members.map((lane) => ({ text: threadText(lanes.threads[lane]), lane, inner: members.length > 1 }));
    return members.length > 1 ? [{ text: processTitle(lanes.threads[members[0]], members.length), lane: -1, inner: false }, ...rows] : rows;
  });
}

/**
 * @param {LaneThread} thread
 * @param {number} threads
 * @returns {string}
 */
function processTitle(thread, threads) {
  const pid = thread.pid >= 0 ? ` (${thread.pid})` : '';
  return `${shownText(thread.process) || '(no name)'}${pid}, ${threads} threads`;
}

/**
 * What an interval says of itself in words.
 * @param {import('./lane_data.js').Lanes} lanes
 * @param {number} at
 * @returns {string}
 */
export function stateText(lanes, at) {
  const name = LANE_STATES[lanes.state[at]] ?? 'nothing recorded';
  const reason = reasonOf(lanes, at);
  return reason ? `${name} (${reason})` : name;
}

/**
 * @param {import('./lane_data.js').Lanes} lanes
 * @param {number} at
 * @returns {string}
 */
function reasonOf(lanes, at) {
  const spot = lanes.spot[at];
  return spot === 0 ? '' : shownText(lanes.reasons[lanes.spotReason[spot - 1]] ?? '');
}

/**
 * @param {import('./lane_data.js').Lanes} lanes
 * @param {number} at
 * @returns {{own: number, waker: number}} nodes of the callstacks, -1: none
 */
export function nodesOfInterval(lanes, at) {
  const spot = lanes.spot[at];
  const waker = lanes.waker[at];
  return { own: spot === 0 ? -1 : lanes.nodeOf(lanes.spotStack[spot - 1]), waker: waker === 0 ? -1 : lanes.wakers[waker - 1].node };
}

// What is known of an interval that was chosen: how long, why, where, who ended it and where.
import { frameText } from './callstack_text.js';
import { LANE_STATES } from './lane_data.js';
import { wakeTick } from './lane_painter.js';
import { nodesOfInterval, stateText } from './lane_rows.js';
import { measureOfState } from './lane_weights.js';
import { durationText } from './number_text.js';
import { make } from './page_elements.js';
import { threadText } from './thread_table.js';
import { pathOfNode } from './tree_math.js';

const FLAG_TEXTS = ['began before the recording', 'lasts longer than the recording', 'cut: records are missing at its end',
  'ends with the switch-in: no waking was recorded', 'the waker is a hint: a later event tells of it'];
const WAKER_TEXTS = ['', '', 'an interrupt: a timer or a device', 'a deferred procedure call: a timer or a device'];
const DETAILED_FRAMES = 200;

/**
 * @typedef {{choose: (at: number) => void, zoom: (at: number) => void, close: () => void}} LaneActions
 */

export class LaneDetails {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {LaneActions} actions
   */
  constructor(model, actions) {
    this.model = model;
    this.actions = actions;
    this.element = make('aside', { class: 'lane-details', 'aria-label': 'The chosen interval', tabindex: 0, hidden: true });
  }

  /** @param {import('./lane_data.js').Lanes} lanes */
  refresh(lanes) {
    const at = this.model.state.interval;
    this.element.hidden = at < 0;
    if (at < 0) return;
    const lane = lanes.laneOf(at);
    const from = lanes.startOf(lane, at) * lanes.tick;
    const to = lanes.end[at] * lanes.tick;
    const flags = FLAG_TEXTS.filter((_, bit) => (lanes.flags[at] >> bit) & 1);
    const button = (/** @type {string} */ text, /** @type {() => void} */ press) => make('button', { type: 'button', class: 'small', onclick: press }, text);
    const nodes = nodesOfInterval(lanes, at);
    this.element.replaceChildren(
      make('h2', {}, `${durationText(to - from)} ${stateText(lanes, at)}`),
      make('p', {}, threadText(lanes.threads[lane])),
      make('p', { class: 'dim' }, `${durationText(from)} to ${durationText(to)}`, ...flags.map((text) => `; ${text}`)),
      this.enderOf(lanes, at, button),
      make('div', { class: 'lane-actions' }, button('Zoom to it', () => this.actions.zoom(at)), ...this.flameButton(lanes, at, button),
        button('Close', () => this.actions.close())),
      ...this.callstack('Where it waited', nodes.own), ...this.callstack('Where the waker was', nodes.waker));
  }

  /**
   * @param {import('./lane_data.js').Lanes} lanes
   * @param {number} at
   * @param {(text: string, press: () => void) => HTMLElement} button
   * @returns {HTMLElement}
   */
  enderOf(lanes, at, button) {
    const name = LANE_STATES[lanes.state[at]];
    const row = lanes.waker[at];
    if (row === 0) return make('p', { hidden: name !== 'blocked' }, 'Who ended it is not recorded.');
    const waker = lanes.wakers[row - 1];
    if (WAKER_TEXTS[waker.kind]) return make('p', {}, `Ended by ${WAKER_TEXTS[waker.kind]}`);
    if (waker.lane < 0) return make('p', {}, `Ended by thread ${waker.tid}`);
    return make('p', {}, 'Ended by ', button(threadText(lanes.threads[waker.lane]), () => this.actions.choose(wakerInterval(lanes, at))));
  }

  /**
   * @param {import('./lane_data.js').Lanes} lanes
   * @param {number} at
   * @param {(text: string, press: () => void) => HTMLElement} button
   * @returns {HTMLElement[]}
   */
  flameButton(lanes, at, button) {
    const { own } = nodesOfInterval(lanes, at);
    const measure = measureOfState(this.model.profile, lanes.state[at]);
    if (own < 0 || measure < 0) return [];
    return [button('In the flame graph', () => this.model.update({ view: 'flame', measure, root: 'none', inverted: false, merged: false,
      window: null, zoom: pathOfNode(this.model.profile.tree, own) }))];
  }

  /**
   * @param {string} title
   * @param {number} node
   * @returns {HTMLElement[]} leaf first
   */
  callstack(title, node) {
    if (node < 0) return [];
    const path = pathOfNode(this.model.profile.tree, node).reverse();
    const frames = path.slice(0, DETAILED_FRAMES).map((fn) => make('li', {}, frameText(this.model.profile, fn)));
    if (path.length > DETAILED_FRAMES) frames.push(make('li', {}, `and ${path.length - DETAILED_FRAMES} more`));
    return [make('h3', {}, title), make('ol', { class: 'frames' }, ...frames)];
  }
}

/**
 * What the waker did when it ended a wait.
 * @param {import('./lane_data.js').Lanes} lanes
 * @param {number} at
 * @returns {number} interval, -1: its lane is not known
 */
export function wakerInterval(lanes, at) {
  const waker = lanes.waker[at] === 0 ? undefined : lanes.wakers[lanes.waker[at] - 1];
  if (!waker || waker.lane < 0) return -1;
  const found = lanes.firstAfter(waker.lane, wakeTick(lanes, at));
  return Math.min(found, lanes.first[waker.lane + 1] - 1);
}

// Paints lanes: what is visible of them, a column of pixels by the time that each state has in it.
import { LANE_STATES } from './lane_data.js';
import { durationText } from './number_text.js';
import { timeMarks } from './time_axis.js';

export const LANE_HEIGHT = 22;
export const AXIS_HEIGHT = 18;
const LANE_STRIP = 16;
const LANE_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** Colours of states in the order of LANE_STATES: Paul Tol's "bright" ones and their darker likes. */
export const LANE_COLOURS = {
  light: ['#3b76b5', '#c3c9d2', '#d9b310', '#e4576b', '#4fb6d6', '#e9ebee'],
  dark: ['#5f9ede', '#4d5561', '#cdb13a', '#e0637a', '#49a3c4', '#2a2f36'],
};
/** From the bottom of a lane to its top, so that running is a skyline. */
const ORDER = ['running', 'awake', 'woken', 'preempted', 'blocked', 'unknown'].map((name) => LANE_STATES.indexOf(name));

/**
 * @typedef {object} LaneScene
 * @property {import('./lane_data.js').Lanes} lanes
 * @property {import('./lane_rows.js').LaneRow[]} rows
 * @property {[number, number]} span ticks
 * @property {number} width in CSS pixels
 * @property {number} height
 * @property {number} top how far it is scrolled
 * @property {number} gutter width of the names
 * @property {boolean} dark
 * @property {import('./colour_rules.js').Palette} palette
 * @property {[number, number] | null} range ticks
 * @property {number} interval that is chosen, -1: none
 * @property {number} row that has the focus
 * @property {boolean} focused
 */

/**
 * @param {string} colour #rrggbb
 * @returns {number} as a pixel of an image, on machines with low bytes first
 */
function pixelOf(colour) {
  const value = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/**
 * Fills the pixels of a lane; what lies above or below the image is left out.
 * @param {Uint32Array} pixels of the image
 * @param {number} stride its width
 * @param {{x: number, y: number, width: number, height: number}} box
 * @param {Float32Array} parts column by column, by state
 * @param {Uint32Array} colours of ORDER
 */
export function fillLane(pixels, stride, box, parts, colours) {
  const kinds = LANE_STATES.length;
  for (let column = 0; column < box.width; column++) {
    let done = 0;
    let sum = 0;
    for (let k = 0; k < kinds; k++) {
      const part = parts[column * kinds + ORDER[k]];
      if (part === 0) continue;
      sum += part;
      const to = Math.min(box.height, Math.round(sum * box.height));
      let place = (box.y + box.height - 1 - done) * stride + box.x + column;
      for (; done < to; done++, place -= stride) {
        if (place >= 0 && place < pixels.length) pixels[place] = colours[k];
      }
    }
  }
}

/**
 * @param {LaneScene} scene
 * @param {number} tick
 * @returns {number} its place
 */
export function xOfTick(scene, tick) {
  const { span, gutter, width } = scene;
  return gutter + ((tick - span[0]) / (span[1] - span[0])) * (width - gutter);
}

/**
 * @param {LaneScene} scene
 * @param {number} row
 * @returns {number} where it begins
 */
function yOfRow(scene, row) {
  return AXIS_HEIGHT + row * LANE_HEIGHT - scene.top;
}

/**
 * @param {LaneScene} scene
 * @returns {[number, number]} rows that are seen, the second one excluded
 */
export function visibleLanes(scene) {
  const first = Math.max(0, Math.floor(scene.top / LANE_HEIGHT));
  return [first, Math.min(scene.rows.length, Math.ceil((scene.top + scene.height - AXIS_HEIGHT) / LANE_HEIGHT))];
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {LaneScene} scene
 * @param {ImageData} image as large as the canvas
 * @param {number} ratio pixels of the image for a CSS pixel
 */
export function paintLanes(context, scene, image, ratio) {
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixelOf(scene.palette.back));
  const names = scene.dark ? LANE_COLOURS.dark : LANE_COLOURS.light;
  const colours = Uint32Array.from(ORDER, (state) => pixelOf(names[state]));
  const [first, last] = visibleLanes(scene);
  const x = Math.round(scene.gutter * ratio);
  const columns = image.width - x;
  for (let row = first; row < last && columns > 0; row++) {
    const { lane } = scene.rows[row];
    if (lane < 0) continue;
    const y = Math.round((yOfRow(scene, row) + (LANE_HEIGHT - LANE_STRIP) / 2) * ratio);
    const parts = scene.lanes.columns(lane, scene.span[0], scene.span[1], columns);
    fillLane(pixels, image.width, { x, y, width: columns, height: Math.round(LANE_STRIP * ratio) }, parts, colours);
  }
  context.putImageData(image, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = LANE_FONT;
  context.textBaseline = 'middle';
  paintNames(context, scene, first, last);
  paintChosen(context, scene);
  paintArrow(context, scene);
  paintAxis(context, scene);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {LaneScene} scene
 * @param {number} first
 * @param {number} last
 */
function paintNames(context, scene, first, last) {
  const { palette, rows, gutter } = scene;
  context.save();
  context.beginPath();
  context.rect(0, 0, scene.width, scene.height);
  context.clip();
  for (let row = first; row < last; row++) {
    const { text, lane, inner } = rows[row];
    const y = yOfRow(scene, row);
    context.fillStyle = lane < 0 ? palette.dimText : palette.text;
    const room = (lane < 0 ? scene.width : gutter) - (inner ? 18 : 6) - 6;
    context.fillText(fitted(context, text, room), inner ? 18 : 6, y + LANE_HEIGHT / 2);
    if (row === scene.row && scene.focused) {
      context.strokeStyle = palette.ring;
      context.lineWidth = 2;
      context.strokeRect(1, y + 1, scene.width - 2, LANE_HEIGHT - 2);
    }
  }
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 * @returns {string} as much of it as there is room for
 */
function fitted(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  // The end tells threads apart: it has their numbers.
  const tail = /\s\(\d+\)$/.exec(text)?.[0] ?? '';
  let head = text.slice(0, text.length - tail.length);
  while (head.length > 1 && context.measureText(`${head}…${tail}`).width > room) head = head.slice(0, -1);
  return `${head}…${tail}`;
}

/**
 * The range that the page counts, and the interval that is chosen.
 * @param {CanvasRenderingContext2D} context
 * @param {LaneScene} scene
 */
function paintChosen(context, scene) {
  const { palette, range, lanes, interval } = scene;
  if (range) {
    const [left, right] = range.map((tick) => Math.min(scene.width, Math.max(scene.gutter, xOfTick(scene, tick))));
    context.fillStyle = palette.range;
    context.globalAlpha = 0.12;
    context.fillRect(left, AXIS_HEIGHT, right - left, scene.height);
    context.globalAlpha = 1;
    for (const edge of [left, right]) context.fillRect(edge - 1, AXIS_HEIGHT, 2, scene.height);
  }
  if (interval < 0) return;
  const lane = lanes.laneOf(interval);
  const row = scene.rows.findIndex((entry) => entry.lane === lane);
  const left = Math.max(scene.gutter, xOfTick(scene, lanes.startOf(lane, interval)));
  const right = Math.min(scene.width, xOfTick(scene, lanes.end[interval]));
  if (row < 0 || right < scene.gutter || left > scene.width) return;
  context.strokeStyle = palette.found;
  context.lineWidth = 2;
  context.strokeRect(left - 1, yOfRow(scene, row) + 2, Math.max(3, right - left + 2), LANE_HEIGHT - 4);
}

/**
 * From the waker's lane to the wait that it ended.
 * @param {CanvasRenderingContext2D} context
 * @param {LaneScene} scene
 */
function paintArrow(context, scene) {
  const { lanes, interval, rows } = scene;
  const waker = interval < 0 ? 0 : lanes.waker[interval];
  if (waker === 0 || lanes.wakers[waker - 1].lane < 0) return;
  const from = rows.findIndex((entry) => entry.lane === lanes.wakers[waker - 1].lane);
  const to = rows.findIndex((entry) => entry.lane === lanes.laneOf(interval));
  const x = xOfTick(scene, wakeTick(lanes, interval));
  if (x < scene.gutter || x > scene.width || from < 0 || from === to) return;
  const down = to > from;
  const begin = yOfRow(scene, from) + LANE_HEIGHT / 2;
  const end = yOfRow(scene, to) + (down ? 2 : LANE_HEIGHT - 2);
  context.strokeStyle = context.fillStyle = scene.palette.found;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, Math.min(scene.height, Math.max(AXIS_HEIGHT, begin)));
  context.lineTo(x, Math.min(scene.height, Math.max(AXIS_HEIGHT, end)));
  context.stroke();
  context.beginPath();
  context.moveTo(x, end);
  context.lineTo(x - 4, end + (down ? -7 : 7));
  context.lineTo(x + 4, end + (down ? -7 : 7));
  context.fill();
  context.beginPath();
  context.arc(x, begin, 3, 0, 7);
  context.fill();
}

/**
 * When somebody made the thread able to run: the end of a block, the begin of what follows it.
 * @param {import('./lane_data.js').Lanes} lanes
 * @param {number} at
 * @returns {number}
 */
export function wakeTick(lanes, at) {
  return LANE_STATES[lanes.state[at]] === 'woken' ? lanes.startOf(lanes.laneOf(at), at) : lanes.end[at];
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {LaneScene} scene
 */
function paintAxis(context, scene) {
  const { palette, span, lanes, gutter, width } = scene;
  context.fillStyle = palette.back;
  context.fillRect(0, 0, width, AXIS_HEIGHT);
  context.fillStyle = palette.dimText;
  const ns = (span[1] - span[0]) * lanes.tick;
  const offset = span[0] * lanes.tick;
  context.fillText(fitted(context, `from ${durationText(offset)}`, gutter - 10), 6, AXIS_HEIGHT / 2);
  for (const mark of timeMarks(ns, Math.max(2, (width - gutter) / 100))) {
    const x = gutter + mark.part * (width - gutter);
    if (x + 70 > width) continue;
    context.fillRect(Math.round(x), 4, 1, AXIS_HEIGHT - 4);
    context.fillText(`+${mark.text}`, x + 4, AXIS_HEIGHT / 2);
  }
}

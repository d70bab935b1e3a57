// Places and texts of an axis of time.
import { durationText } from './number_text.js';

/**
 * @param {number} ns length of the axis
 * @param {number} most marks
 * @returns {{part: number, text: string}[]} places as fractions of the axis
 */
export function timeMarks(ns, most) {
  if (!(ns > 0) || most < 1) return [];
  const step = roundStep(ns / most);
  const marks = [{ part: 0, text: durationText(step).replace(/^\S+/, '0') }];
  for (let k = 1; k * step <= ns; k++) marks.push({ part: (k * step) / ns, text: durationText(k * step) });
  return marks;
}

/**
 * @param {number} least
 * @returns {number} 1, 2 or 5 times a power of ten, at least this
 */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

/**
 * A range of buckets in words, from the start of the capture.
 * @param {Timeline} timeline
 * @param {[number, number]} range buckets, both included
 * @returns {string}
 */
export function rangeText(timeline, range) {
  const from = range[0] * timeline.width;
  const length = (range[1] - range[0] + 1) * timeline.width;
  return `${durationText(from)} to ${durationText(from + length)} (${durationText(length)})`;
}

/**
 * The bucket at a place of the axis.
 * @param {Timeline} timeline
 * @param {number} part fraction of the axis
 * @returns {number}
 */
export function bucketAt(timeline, part) {
  return Math.min(timeline.buckets - 1, Math.max(0, Math.floor(part * timeline.buckets)));
}

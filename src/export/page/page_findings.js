// What a comparison found of functions: read when the first one is asked for.
import {PageCursor, numbersOf} from './page_bytes.js';

/** Exponents are bytes, above this. */
const EXPONENT_BIAS = 64;
const NOT_FINITE = 127;

/**
 * @typedef {object} FindingColumns
 * @property {Uint8Array} verdict
 * @property {Float64Array[]} values     of the old and the new side
 * @property {Float64Array[]} bounds     low, high, least visible
 * @property {ArrayLike<number>} self    by function: row + 1; 0: it was not compared
 * @property {ArrayLike<number>} total
 */

export class Findings {
  /**
   * @param {string[]} verdicts
   * @param {number[]} wholes     what shares of each side are shares of
   * @param {number} functions
   * @param {Uint8Array} bytes
   */
  constructor(verdicts, wholes, functions, bytes) {
    this.verdicts = verdicts;
    this.wholes = wholes;
    this.functions = functions;
    this.bytes = bytes;
    /** @type {FindingColumns | null} */
    this.columns = null;
  }

  /**
   * @param {number} fn
   * @returns {Finding | undefined}
   */
  of(fn) {
    this.columns ??= readColumns(this.functions, this.bytes);
    const {self, total} = this.columns;
    return self[fn] > 0 ? {self: this.figure(self[fn] - 1), total: this.figure(total[fn] - 1)} : undefined;
  }

  /**
   * @param {number} row
   * @returns {DiffFigure}
   */
  figure(row) {
    const {verdict, values, bounds} = /** @type {FindingColumns} */ (this.columns);
    return {
      verdict: this.verdicts[verdict[row]],
      old_share: this.wholes[0] > 0 ? values[0][row] / this.wholes[0] : 0,
      new_share: this.wholes[1] > 0 ? values[1][row] / this.wholes[1] : 0,
      low: bounds[0][row],
      high: bounds[1][row],
      least_visible: bounds[2][row],
    };
  }
}

/**
 * @param {number} functions
 * @param {Uint8Array} bytes
 * @returns {FindingColumns}
 */
function readColumns(functions, bytes) {
  const cursor = new PageCursor(bytes);
  const count = bytes.length === 0 ? 0 : cursor.varint();
  const column = () => cursor.take(cursor.varint());
  if (count === 0) {
    const nothing = new Float64Array(0);
    return {verdict: new Uint8Array(0), values: [nothing, nothing], bounds: [nothing, nothing, nothing], self: [], total: []};
  }
  const verdict = column();
  const values = [largeNumbers(column(), count), largeNumbers(column(), count)];
  const bounds = [0, 1, 2].map(() => decimals(numbersOf(column(), count), column(), count));
  return {verdict, values, bounds, self: numbersOf(column(), functions), total: numbersOf(column(), functions)};
}

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 */
function largeNumbers(bytes, count) {
  const cursor = new PageCursor(bytes);
  return Float64Array.from({length: count}, () => cursor.varint());
}

/**
 * @param {ArrayLike<number>} codes  digits, the sign in the lowest bit
 * @param {Uint8Array} exponents
 * @param {number} count
 */
function decimals(codes, exponents, count) {
  const values = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    const digits = codes[i] % 2 === 0 ? codes[i] / 2 : -(codes[i] + 1) / 2;
    const exponent = exponents[i] - EXPONENT_BIAS;
    values[i] = exponent === NOT_FINITE ? NaN : Number(`${digits}e${exponent}`);
  }
  return values;
}

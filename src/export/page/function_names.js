// The functions of a page: names, modules, kinds.
import {PageCursor, TWO_32} from './page_bytes.js';

/** In place of a function or a module that is not there. */
export const NO_FUNCTION = 0xffffffff;

/**
 * Names: of functions without one the module and an offset; of the others the bytes, of which each
 * begins like the one before.
 */
export class FunctionTable {
  /**
   * @param {number} count
   * @param {string[]} modules
   * @param {Uint8Array} rows
   * @param {Uint8Array} text
   * @param {Uint8Array} [shortRows] what is kept of each name
   */
  constructor(count, modules, rows, text, shortRows = new Uint8Array(0)) {
    this.modules = modules;
    this.count = count;
    this.module = new Uint32Array(count);
    this.mode = new Uint8Array(count);
    this.start = new Uint32Array(count);  // of the name; of those without one the low half
    this.length = new Uint32Array(count);  // of the name; of those without one the high half
    this.named = new Uint8Array(count);
    this.decoder = new TextDecoder('utf-8', {ignoreBOM: true});
    this.names = new Uint8Array(0);
    this.shortRows = shortRows;
    /** @type {Uint32Array | null} where the row of a function begins in shortRows */
    this.shortStarts = null;
    this.read(new PageCursor(rows), new PageCursor(text));
  }

  /**
   * @param {PageCursor} rows
   * @param {PageCursor} text
   */
  read(rows, text) {
    let names = new Uint8Array(text.bytes.length * 2 + 1024);
    let used = 0;
    let last = 0;  // where the last name begins
    let low = 0;
    let high = 0;
    for (let fn = 0; fn < this.count; ++fn) {
      const flags = rows.byte();
      this.mode[fn] = flags & 7;
      const module = rows.varint();
      this.module[fn] = module === 0 ? NO_FUNCTION : module - 1;
      if ((flags & 8) === 0) {
        const [codeLow, codeHigh] = rows.varintHalves();
        [low, high] = addZigzag(low, high, codeLow, codeHigh);
        this.start[fn] = low;
        this.length[fn] = high;
        continue;
      }
      const shared = rows.varint();
      const own = rows.varint();
      if (used + shared + own > names.length) {
        const larger = new Uint8Array((used + shared + own) * 2);
        larger.set(names);
        names = larger;
      }
      names.copyWithin(used, last, last + shared);
      names.set(text.take(own), used + shared);
      this.named[fn] = 1;
      this.start[fn] = used;
      this.length[fn] = shared + own;
      last = used;
      used += shared + own;
    }
    this.names = names;
  }

  /**
   * Ever shorter forms of a name: without arguments, then without one namespace after the other.
   * @param {number} fn
   * @returns {string[]}
   */
  shortNames(fn) {
    const row = fn < this.count && this.named[fn] ? this.shortRow(fn) : null;
    if (!row || row.done()) return [this.name(fn)];
    const name = this.names.subarray(this.start[fn], this.start[fn] + this.length[fn]);
    /** @type {{text: string, starts: boolean}[]} */
    const parts = [];
    for (let end = 0; !row.done();) {
      const begin = end + row.varint();
      const code = row.varint();
      end = begin + Math.floor(code / 2);
      parts.push({text: this.decoder.decode(name.subarray(begin, end)), starts: code % 2 === 1});
    }
    return parts.flatMap((part, k) => (part.starts ? [parts.slice(k).map((kept) => kept.text).join('')] : []));
  }

  /**
   * @param {number} fn
   * @returns {PageCursor | null}
   */
  shortRow(fn) {
    if (this.shortRows.length === 0) return null;
    if (!this.shortStarts) {
      this.shortStarts = new Uint32Array(this.count);
      const cursor = new PageCursor(this.shortRows);
      for (let one = 0; one < this.count; ++one) {
        if (!this.named[one]) continue;
        this.shortStarts[one] = cursor.at;
        cursor.take(cursor.varint());
      }
    }
    const cursor = new PageCursor(this.shortRows);
    cursor.at = this.shortStarts[fn];
    return new PageCursor(cursor.take(cursor.varint()));
  }

  /** @param {number} fn */
  name(fn) {
    if (fn >= this.count) {
      return '';
    }
    if (this.named[fn]) {
      return this.decoder.decode(this.names.subarray(this.start[fn], this.start[fn] + this.length[fn]));
    }
    const high = this.length[fn];
    const low = this.start[fn].toString(16);
    const offset = high === 0 ? low : high.toString(16) + low.padStart(8, '0');
    const module = this.module[fn];
    return module === NO_FUNCTION ? `0x${offset}` : `${this.modules[module]}+0x${offset}`;
  }
}

/**
 * Adds a difference to 64 bits that are held as halves; it is folded, the sign in the lowest bit.
 * @param {number} low
 * @param {number} high
 * @param {number} codeLow
 * @param {number} codeHigh
 */
function addZigzag(low, high, codeLow, codeHigh) {
  const negative = codeLow & 1;
  let addLow = Math.floor(codeLow / 2) + (codeHigh & 1) * 2147483648;
  let addHigh = Math.floor(codeHigh / 2);
  if (negative) {  // -(v + 1), as the complement
    addLow = TWO_32 - 1 - addLow;
    addHigh = TWO_32 - 1 - addHigh;
  }
  const sum = low + addLow;
  return [sum % TWO_32, (high + addHigh + (sum >= TWO_32 ? 1 : 0)) % TWO_32];
}

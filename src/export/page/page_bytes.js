// Numbers as the data of a page have them: docs/page-format.md.

export const TWO_32 = 4294967296;

/** A cursor over bytes; what lies outside is an error. */
export class PageCursor {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  done() {
    return this.at >= this.bytes.length;
  }

  byte() {
    if (this.at >= this.bytes.length) {
      throw new Error('the data of this page end too early');
    }
    return this.bytes[this.at++];
  }

  /** A number; above 2^53 it is rounded. */
  varint() {
    let byte = this.byte();
    if (byte < 128) {
      return byte;
    }
    let value = byte & 127;
    let scale = 128;
    do {
      byte = this.byte();
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  /** 64 bits as two halves, low one first. */
  varintHalves() {
    let low = 0;
    let high = 0;
    let byte = 0;
    let shift = 0;
    do {
      byte = this.byte();
      const bits = byte & 127;
      if (shift < 28) {
        low += bits * 2 ** shift;
      } else if (shift === 28) {
        low += (bits & 15) * 2 ** 28;
        high += bits >> 4;
      } else {
        high += bits * 2 ** (shift - 32);
      }
      shift += 7;
    } while (byte >= 128);
    return [low, high % TWO_32];
  }

  /** @param {number} length */
  take(length) {
    if (length > this.bytes.length - this.at) {
      throw new Error('the data of this page end too early');
    }
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/**
 * Numbers below 2^32, as fast as may be: pages have millions of them.
 * @param {Uint8Array} bytes
 * @param {number} count
 */
export function numbersOf(bytes, count) {
  const numbers = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < count; ++i) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = bytes[at++];
      value |= (byte & 127) << shift;
    }
    numbers[i] = value;
  }
  if (at !== bytes.length) {
    throw new Error('the data of this page are damaged');
  }
  return numbers;
}

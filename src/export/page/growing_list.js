// Typed arrays that grow.

export class GrowingUints {
  constructor() {
    this.values = new Uint32Array(1024);
    this.length = 0;
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this.values.length) {
      const larger = new Uint32Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** @returns {Uint32Array} a copy of what is in use */
  toArray() {
    return this.values.slice(0, this.length);
  }
}

export class GrowingFloats {
  constructor() {
    this.values = new Float64Array(1024);
    this.length = 0;
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** @returns {Float64Array} a copy of what is in use */
  toArray() {
    return this.values.slice(0, this.length);
  }
}

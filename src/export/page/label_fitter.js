// Names in boxes: the longest form that fits, found fast for thousands of boxes.
import { fittedName, shownForms } from './shown_names.js';

export class LabelFitter {
  /**
   * @param {Profile} profile
   * @param {(text: string) => number} measure width of a text in pixels
   */
  constructor(profile, measure) {
    this.profile = profile;
    this.measure = measure;
    this.widths = new Float32Array(128);
    for (let code = 32; code < 127; code++) this.widths[code] = measure(String.fromCharCode(code));
    this.ellipsis = measure('…');
    /** When to stop fitting new labels, as performance.now() has it. */
    this.deadline = Infinity;
    /** Whether labels were put off for that. */
    this.late = false;
    /** @type {Map<number, string[]>} */
    this.forms = new Map();
    /** @type {Map<number, string>} by function and room */
    this.labels = new Map();
    this.widthOf = this.widthOf.bind(this);
  }

  /**
   * @param {string} text
   * @returns {number}
   */
  widthOf(text) {
    let width = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 0x2026) width += this.ellipsis;
      else if (code >= 127 || code < 32) return this.measure(text);
      else width += this.widths[code];
    }
    return width;
  }

  /**
   * @param {number} fn
   * @returns {string[]}
   */
  formsOf(fn) {
    let forms = this.forms.get(fn);
    if (forms === undefined) this.forms.set(fn, forms = shownForms(this.profile, fn));
    return forms;
  }

  /**
   * @param {number} fn
   * @param {number} room in pixels
   * @returns {string} '' when nothing useful fits, or when it is too late for a new label
   */
  labelOf(fn, room) {
    // Four pixels more or less do not show, and make the same label of most redraws.
    const steps = Math.min(1023, Math.floor(room / 4));
    const key = fn * 1024 + steps;
    let label = this.labels.get(key);
    if (label === undefined) {
      if (performance.now() > this.deadline) {
        this.late = true;
        return '';
      }
      if (this.labels.size > 50000) this.labels.clear();
      label = fittedName(this.formsOf(fn), steps * 4, this.widthOf);
      this.labels.set(key, label);
    }
    return label;
  }
}

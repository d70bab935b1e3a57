// Search over the names of all functions.
import { lastPart, shownName, shownText } from './shown_names.js';

/** A regular expression is given this long over all names: some expressions take for ever on some names. */
const SEARCH_MS = 1500;
/** Longer names are searched in their beginning only: time of an expression may grow with the square. */
const SEARCHED_LENGTH = 4096;

/** Names in the form that is searched; made once. */
export class NameIndex {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    /** @type {string[]} */
    this.names = [];
    /** @type {string[]} */
    this.folded = [];
  }

  /**
   * Makes what is missing.
   * @param {number} most names
   * @returns {boolean} whether all are there
   */
  prepare(most = Infinity) {
    const { functionCount } = this.profile;
    const end = Math.min(functionCount, this.names.length + most);
    for (let fn = this.names.length; fn < end; fn++) {
      const name = this.profile.functionName(fn).slice(0, SEARCHED_LENGTH);
      this.names.push(name);
      this.folded.push(name.toLowerCase());
    }
    return end === functionCount;
  }

  /**
   * @param {string} query
   * @param {boolean} regex
   * @returns {SearchResult}
   */
  search(query, regex) {
    if (query === '') return { mask: null, functions: 0, error: '' };
    this.prepare();
    const modules = this.modulesOf(query);
    const wanted = modules ? query.slice(query.indexOf('!') + 1) : query;
    const found = this.searchNames(wanted, regex);
    if (found.mask && modules) found.functions = keepModules(found.mask, this.profile.functionModule, modules);
    return found;
  }

  /**
   * As the command line takes functions: text, text with * and ?, or an expression between slashes.
   * @param {string} query
   * @param {boolean} regex
   * @returns {SearchResult}
   */
  searchNames(query, regex) {
    const slashed = /^\/(.+)\/$/s.exec(query);
    const exact = query !== query.toLowerCase();
    if (regex || slashed) return this.searchExpression(slashed ? slashed[1] : query, exact);
    return /[*?]/.test(query) ? this.searchPattern(query, exact) : this.searchText(query);
  }

  /**
   * @param {string} query
   * @returns {Set<number> | null} the modules that the part before ! means; null: it means none
   */
  modulesOf(query) {
    const cut = query.indexOf('!');
    if (cut <= 0) return null;
    const wanted = query.slice(0, cut).toLowerCase();
    const pattern = new RegExp(`^${patternText(wanted)}$`, 'su');
    const modules = this.profile.modules.flatMap((path, module) => {
      const file = lastPart(path).toLowerCase();
      const stem = file.includes('.', 1) ? file.slice(0, file.indexOf('.', 1)) : file;
      return file === wanted || stem === wanted || pattern.test(file) ? [module] : [];
    });
    return modules.length > 0 ? new Set(modules) : null;
  }

  /**
   * Whole names, without parameters or with them; and names with the text as it is, since * and ? stand in some.
   * @param {string} query
   * @param {boolean} exact
   * @returns {SearchResult}
   */
  searchPattern(query, exact) {
    const found = this.searchExpression(`^(?:${patternText(query)})(?:[(<].*)?$`, exact);
    const text = this.searchText(query);
    if (!found.mask || !text.mask) return found;
    found.functions = 0;
    for (let fn = 0; fn < found.mask.length; fn++) {
      found.mask[fn] |= text.mask[fn];
      found.functions += found.mask[fn];
    }
    return found;
  }

  /**
   * Capital letters in the text make it matter which are capital. Names may be given as they are shown.
   * @param {string} query
   * @returns {SearchResult}
   */
  searchText(query) {
    const mask = new Uint8Array(this.names.length);
    const exact = query !== query.toLowerCase();
    const texts = exact ? this.names : this.folded;
    let functions = 0;
    for (let fn = 0; fn < texts.length; fn++) {
      if (texts[fn].includes(query)) {
        mask[fn] = 1;
        functions++;
      }
    }
    if (functions === 0 && /[\\(]/.test(query)) functions = this.searchShown(query, mask);
    return { mask, functions, error: '' };
  }

  /**
   * @param {string} query
   * @param {Uint8Array} mask
   * @returns {number} how many were found
   */
  searchShown(query, mask) {
    let functions = 0;
    for (let fn = 0; fn < this.names.length; fn++) {
      const name = this.names[fn];
      if ((name === '' || shownText(name) !== name) && shownName(this.profile, fn).includes(query)) {
        mask[fn] = 1;
        functions++;
      }
    }
    return functions;
  }

  /**
   * @param {string} query
   * @param {boolean} exact whether case counts
   * @returns {SearchResult}
   */
  searchExpression(query, exact) {
    let expression;
    try {
      expression = new RegExp(query, exact ? 'su' : 'isu');
    } catch (error) {
      return { mask: null, functions: 0, error: errorText(error) };
    }
    const mask = new Uint8Array(this.names.length);
    const deadline = performance.now() + SEARCH_MS;
    let functions = 0;
    for (let fn = 0; fn < this.names.length; fn++) {
      if (expression.test(this.names[fn])) {
        mask[fn] = 1;
        functions++;
      }
      if ((fn & 63) === 0 && performance.now() > deadline) {
        return { mask, functions, error: `this expression is slow: ${fn + 1} of ${this.names.length} names were tried` };
      }
    }
    return { mask, functions, error: '' };
  }
}

/**
 * @param {string} pattern with * and ?
 * @returns {string} the expression for it
 */
function patternText(pattern) {
  return pattern.replace(/[\\^$.*+?()[\]{}|/]/g, (mark) => (mark === '*' ? '.*?' : mark === '?' ? '.' : `\\${mark}`));
}

/**
 * @param {Uint8Array} mask by function; changed
 * @param {Uint32Array} functionModule
 * @param {Set<number>} modules
 * @returns {number} functions that are left
 */
function keepModules(mask, functionModule, modules) {
  let functions = 0;
  for (let fn = 0; fn < mask.length; fn++) {
    if (!mask[fn]) continue;
    if (modules.has(functionModule[fn])) functions++;
    else mask[fn] = 0;
  }
  return functions;
}

/**
 * @param {unknown} error
 * @returns {string} the reason without "Invalid regular expression:" and the expression
 */
function errorText(error) {
  const text = error instanceof Error ? error.message : String(error);
  const reason = text.includes(': ') ? text.slice(text.lastIndexOf(': ') + 2) : text;
  return `not a regular expression: ${reason}`;
}

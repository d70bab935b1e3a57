// Code without a name as the command line counts it: a row for each module, `[zstd]`, besides the places in it that the
// flame graph shows, `zstd+0xc02b`.
import { NO_FUNCTION } from './function_names.js';
import { lastPart } from './shown_names.js';

/** What stands for the addresses of no code at the root of a callstack, all of them together; rows count them as unknown. */
export const BROKEN_ROOT = '[broken callstack]';
/** Mode of kernel code. */
const KERNEL_MODE = 1;

/**
 * @param {string} module
 * @returns {string}
 */
function rowTitle(module) {
  const file = lastPart(module);
  return file.startsWith('[') ? file : `[${file}]`;
}

/**
 * @param {Profile} profile
 * @param {Tree} source its tree, or that of rows
 * @returns {number} the function that stands for addresses of no code at the root, NO_FUNCTION for none
 */
export function brokenRootOf(profile, source) {
  const { tree } = profile;
  for (let child = 1; child < tree.count; child = tree.end[child]) {
    const fn = tree.fn[child];
    if (profile.functionModule[fn] === NO_FUNCTION && profile.functionName(fn) === BROKEN_ROOT) return source.fn[child];
  }
  return NO_FUNCTION;
}

/**
 * The same profile with a function more for each module that has code without a name. They have no nodes of their own.
 * @param {Profile} profile
 * @returns {Profile & {rowOf: Uint32Array}} rowOf: by function, the one that rows of tables count it under
 */
export function withUnnamedRows(profile) {
  if (profile.rowOf) return { ...profile, rowOf: profile.rowOf };
  const { functionCount: first, functionModule, functionMode, functionNamed } = profile;
  const broken = brokenRootOf(profile, profile.tree);
  const rowOf = Array.from({ length: first }, (_, fn) => fn);
  /** @type {Map<string, number>} */
  const rows = new Map();
  /** @type {{title: string, module: number, mode: number}[]} */
  const added = [];
  for (let fn = 0; fn < first; fn++) {
    const module = functionModule[fn];
    if (functionNamed[fn] && fn !== broken) continue;
    const title = module !== NO_FUNCTION ? rowTitle(profile.modules[module]) : functionMode[fn] === KERNEL_MODE ? '[kernel]' : '[unknown]';
    const known = rows.get(title);
    if (known === undefined) {
      rows.set(title, first + added.length);
      rowOf[fn] = first + added.length;
      added.push({ title, module, mode: functionMode[fn] });
    } else {
      rowOf[fn] = known;
    }
  }
  const titleOf = (/** @type {number} */ fn) => added[fn - first]?.title ?? '';
  return {
    ...profile, functionCount: first + added.length,
    rowOf: Uint32Array.from(rowOf.concat(added.map((_, k) => first + k))),
    functionName: (fn) => (fn < first ? profile.functionName(fn) : titleOf(fn)),
    shortNames: (fn) => (fn < first ? profile.shortNames(fn) : [titleOf(fn)]),
    functionModule: Uint32Array.from([...functionModule.subarray(0, first), ...added.map((row) => row.module)]),
    functionMode: Uint8Array.from([...functionMode.subarray(0, first), ...added.map((row) => row.mode)]),
    functionNamed: Uint8Array.from([...functionNamed.subarray(0, first), ...added.map(() => 1)]),
  };
}

/**
 * @param {Tree} tree
 * @param {Uint32Array} rowOf
 * @returns {Tree} in which code without a name is the function of its module; the same where all code has a name
 */
export function treeOfRows(tree, rowOf) {
  if (rowOf.every((row, fn) => row === fn)) return tree;
  const fn = tree.fn.map((one) => (one === NO_FUNCTION ? one : rowOf[one]));
  return { ...tree, fn };
}

/**
 * What a search found, in rows as in places: a row is found with any place in it, a place with its row.
 * @param {Uint8Array} mask by function; changed
 * @param {Uint32Array} rowOf
 * @returns {number} rows found
 */
export function spreadToRows(mask, rowOf) {
  for (let fn = 0; fn < mask.length; fn++) if (mask[rowOf[fn]]) mask[fn] = 1;
  for (let fn = 0; fn < mask.length; fn++) if (mask[fn]) mask[rowOf[fn]] = 1;
  let rows = 0;
  for (let fn = 0; fn < mask.length; fn++) if (mask[fn] && rowOf[fn] === fn) rows++;
  return rows;
}

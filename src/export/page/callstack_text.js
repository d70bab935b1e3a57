// A callstack as text for the clipboard.
import { moduleName, shownName } from './shown_names.js';
import { pathOfNode } from './tree_math.js';

/**
 * Leaf first, a frame a line, as `stackpack show` writes them.
 * @param {Profile} profile
 * @param {ViewTree} view
 * @param {number} node
 * @param {boolean} leafFirst whether the view has leaves at its root
 * @param {string} weight what stands in the first line
 * @returns {string}
 */
export function callstackText(profile, view, node, leafFirst, weight) {
  const path = pathOfNode(view, node);
  if (!leafFirst) path.reverse();
  const lines = path.map((fn) => '  ' + frameText(profile, fn));
  return [weight, ...lines].join('\n') + '\n';
}

/**
 * @param {Profile} profile
 * @param {number} fn
 * @returns {string} function (module)
 */
export function frameText(profile, fn) {
  const name = shownName(profile, fn);
  const module = moduleName(profile, fn);
  return module && !name.startsWith(module + '+') ? `${name} (${module})` : name;
}

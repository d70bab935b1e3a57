// The tree that stands for the canvas: what has the focus of the keyboard and is read out. It holds the
// focused node, the nodes above it, those beside it and those below it, as many as a reader would walk.
import { make } from './page_elements.js';
import { childrenOf } from './tree_math.js';

/** Neighbours and children that are there at a time. */
const MOST_ITEMS = 24;
/** Nodes above the focus that are there. */
const MOST_ABOVE = 60;

export class FlameMirror {
  /**
   * @param {string} label
   * @param {string} id unique in the page
   */
  constructor(label, id) {
    this.id = id;
    this.element = make('div', { class: 'flame-mirror', role: 'tree', tabindex: 0, 'aria-label': label });
  }

  /**
   * @param {ViewTree} view
   * @param {number} focus node
   * @param {(node: number) => string} textOf
   */
  show(view, focus, textOf) {
    const items = [];
    const above = nodesAbove(view, focus);
    for (const node of above) items.push(this.item(view, node, textOf, node !== focus));
    if (focus !== 0) {
      const [siblings, place] = this.neighbours(view, focus);
      const before = siblings.filter((_, k) => k < place).map((node) => this.item(view, node, textOf, false));
      const after = siblings.filter((_, k) => k > place).map((node) => this.item(view, node, textOf, false));
      items.splice(items.length - 1, 0, ...before);
      items.push(...this.children(view, focus, textOf), ...after);
    } else {
      items.push(...this.children(view, focus, textOf));
    }
    this.element.replaceChildren(...items);
    this.element.setAttribute('aria-activedescendant', `${this.id}-${focus}`);
  }

  /** Empties it: there is nothing to show. */
  clear() {
    this.element.replaceChildren(make('div', { role: 'treeitem', 'aria-level': 1 }, 'nothing to show'));
    this.element.removeAttribute('aria-activedescendant');
  }

  /**
   * @param {ViewTree} view
   * @param {number} focus
   * @returns {[number[], number]} siblings around the focus, and its place among them
   */
  neighbours(view, focus) {
    const all = shownChildren(view, view.parent[focus]);
    const place = all.indexOf(focus);
    const from = Math.max(0, place - MOST_ITEMS / 2);
    return [all.slice(from, from + MOST_ITEMS), place - from];
  }

  /**
   * @param {ViewTree} view
   * @param {number} focus
   * @param {(node: number) => string} textOf
   * @returns {HTMLElement[]}
   */
  children(view, focus, textOf) {
    return shownChildren(view, focus).slice(0, MOST_ITEMS).map((child) => this.item(view, child, textOf, false));
  }

  /**
   * @param {ViewTree} view
   * @param {number} node
   * @param {(node: number) => string} textOf
   * @param {boolean} expanded
   * @returns {HTMLElement}
   */
  item(view, node, textOf, expanded) {
    const leaf = view.end[node] === node + 1;
    return make('div', {
      role: 'treeitem', id: `${this.id}-${node}`, 'aria-level': view.depth[node] + 1,
      ...(leaf ? {} : { 'aria-expanded': String(expanded) }),
    }, textOf(node));
  }
}

/**
 * @param {ViewTree} view
 * @param {number} focus
 * @returns {number[]} from the root (or as far up as is shown) down to the focus
 */
function nodesAbove(view, focus) {
  const above = [focus];
  for (let node = focus; node !== 0 && above.length < MOST_ABOVE; node = view.parent[node]) above.push(view.parent[node]);
  return above.reverse();
}

/**
 * @param {ViewTree} view
 * @param {number} node
 * @returns {number[]} children that have samples
 */
export function shownChildren(view, node) {
  return childrenOf(view, node).filter((child) => view.total[child] > 0);
}

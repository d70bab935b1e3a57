// Trees made of groups of nodes of the profile's tree: leaf first, callers and callees of a function,
// recursion merged. Only what is wide enough to be seen is built; zooming builds more of it. Positions
// stay: children stand by falling weight, and what is left out stands at the end.
import { GrowingFloats, GrowingUints } from './growing_list.js';

/** The narrowest node that is built, as a part of what is shown. */
const NARROWEST = 1 / 6000;

/**
 * Nodes of the profile's tree that are one node of the grouped tree.
 * @typedef {object} Group
 * @property {number} fn
 * @property {Uint32Array} items nodes; leaf first: how far each callstack has been followed up
 * @property {Uint32Array} origins leaf first: the nodes whose weights the items stand for
 * @property {number} parent
 * @property {number} depth
 * @property {number} left
 * @property {number} total
 * @property {number} old
 * @property {number} kept how much of the path to be kept ends here, or -1
 * @property {number} below weight of all its children, also of those that are left out
 *
 * What to build. `up` follows callers, `down` callees.
 * @typedef {object} GroupSpec
 * @property {Tree} tree
 * @property {number} functionCount
 * @property {'up' | 'down'} walk
 * @property {boolean} merged a function that calls itself directly is one node
 * @property {boolean} leaves the children of the root are the nodes themselves, not their callers
 * @property {Uint32Array} nodes where the walks begin; all belong to the root
 * @property {number} rootFn
 * @property {Float64Array} value by node: what it stands for at the start of a walk up, totals for one down
 * @property {Float64Array | null} old
 * @property {[number, number]} whole
 * @property {[number, number]} window part of the root's weight that is shown, as fractions
 * @property {number[]} keep a path that is built however narrow it is
 */

/** Children of a group, found by function. Reused from group to group. */
class ChildFinder {
  /** @param {GroupSpec} spec */
  constructor(spec) {
    this.spec = spec;
    this.sum = new Float64Array(spec.functionCount);
    this.oldSum = new Float64Array(spec.functionCount);
    this.members = new Uint32Array(spec.functionCount);
    this.seen = new GrowingUints();
    this.items = new GrowingUints();
    this.origins = new GrowingUints();
  }

  /**
   * @param {number} item
   * @param {number} origin
   */
  add(item, origin) {
    const { tree, value, old } = this.spec;
    const fn = tree.fn[item];
    if (this.members[fn]++ === 0) this.seen.push(fn);
    this.sum[fn] += value[origin];
    if (old) this.oldSum[fn] += old[origin];
    this.items.push(item);
    this.origins.push(origin);
  }

  /** @param {Group} group */
  findCallers(group) {
    const { tree, merged } = this.spec;
    if (group.depth === 0 && this.spec.leaves) {
      for (const node of group.items) this.add(node, node);
      return;
    }
    for (let k = 0; k < group.items.length; k++) {
      let caller = tree.parent[group.items[k]];
      while (merged && caller !== 0 && tree.fn[caller] === group.fn) caller = tree.parent[caller];
      if (caller !== 0) this.add(caller, group.origins[k]);
    }
  }

  /** @param {Group} group */
  findCallees(group) {
    const { tree, merged } = this.spec;
    const open = Array.from(group.items);
    // In order, since sums of real numbers depend on it.
    for (let k = 0; k < open.length; k++) {
      const node = open[k];
      for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
        if (merged && tree.fn[child] === group.fn && node !== 0) open.push(child);
        else this.add(child, child);
      }
    }
  }

  /**
   * Takes out the children that are kept, heaviest first, and forgets all.
   * @param {Group} group
   * @param {number} parent
   * @param {(fn: number, left: number, total: number) => boolean} wanted
   * @returns {Group[]}
   */
  take(group, parent, wanted) {
    const fns = Array.from(this.seen.toArray());
    fns.sort((a, b) => this.sum[b] - this.sum[a] || this.oldSum[b] - this.oldSum[a] || a - b);
    let left = group.left + group.total;
    for (const fn of fns) {
      left -= this.sum[fn];
      group.below += this.sum[fn];
    }
    left = Math.max(left, group.left);
    /** @type {Map<number, Group>} */
    const kept = new Map();
    for (const fn of fns) {
      if (wanted(fn, left, this.sum[fn])) {
        kept.set(fn, {
          fn, items: new Uint32Array(this.members[fn]), origins: new Uint32Array(this.members[fn]),
          parent, depth: group.depth + 1, left, total: this.sum[fn], old: this.oldSum[fn], kept: -1, below: 0,
        });
      }
      left += this.sum[fn];
    }
    this.distribute(kept);
    for (const fn of fns) this.sum[fn] = this.oldSum[fn] = this.members[fn] = 0;
    this.seen.length = this.items.length = this.origins.length = 0;
    return Array.from(kept.values());
  }

  /** @param {Map<number, Group>} groups */
  distribute(groups) {
    for (const fn of groups.keys()) this.members[fn] = 0;
    for (let k = 0; k < this.items.length; k++) {
      const fn = this.spec.tree.fn[this.items.values[k]];
      const group = groups.get(fn);
      if (!group) continue;
      const place = this.members[fn]++;
      group.items[place] = this.items.values[k];
      group.origins[place] = this.origins.values[k];
    }
  }
}

/** Columns of the tree that comes out. */
class GroupedColumns {
  constructor() {
    this.fn = new GrowingUints();
    this.parent = new GrowingUints();
    this.depth = new GrowingUints();
    this.left = new GrowingFloats();
    this.total = new GrowingFloats();
    this.old = new GrowingFloats();
    this.below = new GrowingFloats();
  }

  /**
   * @param {Group} group
   * @returns {number} its node
   */
  add(group) {
    this.fn.push(group.fn);
    this.parent.push(group.parent);
    this.depth.push(group.depth);
    this.left.push(group.left);
    this.total.push(group.total);
    this.old.push(group.old);
    this.below.push(0);
    return this.fn.length - 1;
  }

  /**
   * @param {GroupSpec} spec
   * @param {boolean} pruned
   * @returns {ViewTree}
   */
  finish(spec, pruned) {
    const count = this.fn.length;
    const parent = this.parent.toArray();
    const end = new Uint32Array(count);
    for (let i = count - 1; i >= 0; i--) {
      end[i] = Math.max(end[i], i + 1);
      if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
    }
    return {
      count, fn: this.fn.toArray(), parent, end, depth: this.depth.toArray(), left: this.left.toArray(),
      total: this.total.toArray(), old: spec.old ? this.old.toArray() : null, whole: spec.whole,
      rootFn: spec.rootFn, pruned, heaviestFirst: true, below: this.below.toArray(),
    };
  }
}

/**
 * @param {GroupSpec} spec
 * @returns {ViewTree}
 */
export function groupedTree(spec) {
  const finder = new ChildFinder(spec);
  const columns = new GroupedColumns();
  const root = rootGroup(spec);
  const [from, to] = [spec.window[0] * root.total, spec.window[1] * root.total];
  const narrowest = (to - from) * NARROWEST;
  let pruned = false;
  const pending = [root];
  for (let group = pending.pop(); group; group = pending.pop()) {
    const node = columns.add(group);
    if (spec.walk === 'up') finder.findCallers(group);
    else finder.findCallees(group);
    const next = group.kept >= 0 ? spec.keep[group.kept] : -1;
    const children = finder.take(group, node, (fn, left, total) => {
      const seen = total > 0 && total >= narrowest && left + total > from && left < to;
      if (!seen) pruned = true;
      return seen || fn === next;
    });
    columns.below.values[node] = group.below;
    for (let k = children.length - 1; k >= 0; k--) {
      if (children[k].fn === next) children[k].kept = group.kept + 1;
      pending.push(children[k]);
    }
  }
  return columns.finish(spec, pruned);
}

/**
 * @param {GroupSpec} spec
 * @returns {Group}
 */
function rootGroup(spec) {
  let total = 0;
  let old = 0;
  for (const node of spec.nodes) {
    total += spec.value[node];
    if (spec.old) old += spec.old[node];
  }
  return {
    fn: spec.rootFn, items: spec.nodes, origins: spec.nodes, parent: 0, depth: 0, left: 0, total, old,
    kept: spec.keep.length > 0 ? 0 : -1, below: 0,
  };
}

/**
 * Nodes of a function that do not lie below another one of it: each callstack passes at most one.
 * @param {Tree} tree
 * @param {number} fn
 * @returns {Uint32Array}
 */
export function outermostNodes(tree, fn) {
  const nodes = new GrowingUints();
  for (let i = 1; i < tree.count;) {
    if (tree.fn[i] === fn) {
      nodes.push(i);
      i = tree.end[i];
    } else {
      i++;
    }
  }
  return nodes.toArray();
}

/**
 * Nodes other than the root that have weight of their own, on either side.
 * @param {Weights} weights
 * @returns {Uint32Array}
 */
export function weightyNodes(weights) {
  const nodes = new GrowingUints();
  const { self, oldSelf } = weights;
  for (let i = 1; i < self.length; i++) {
    if (self[i] !== 0 || (oldSelf && oldSelf[i] !== 0)) nodes.push(i);
  }
  return nodes.toArray();
}

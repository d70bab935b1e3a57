// Trees, weights, callers and callees, time ranges: against plain sums over the folded lines.
import assert from 'node:assert/strict';
import test from 'node:test';
import { narrowRests, visibleRows, nodeAt, zoomedWindow } from '../../src/export/page/flame_layout.js';
import { calleeRows, callerRows, ROOT_ROW, SELF_ROW } from '../../src/export/page/function_rows.js';
import { PageModel } from '../../src/export/page/page_model.js';
import { startState } from '../../src/export/page/view_link.js';
import { matchedWeight, nodeOfPath, pathOfNode, wholeViewTree } from '../../src/export/page/tree_math.js';
import { profileFromFolded, timedProfile } from './folded_profile.js';

const TEXT = ['main;a;b 3', 'main;a;b;a;c 4', 'main;c 5', 'main 1', 'other;a;a;a 7', 'other;b;c 2'].join('\n');

/** The lines as [names, count]. */
function lines(text = TEXT) {
  return text.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')).split(';'), Number(line.slice(line.lastIndexOf(' ') + 1))]);
}
function sum(text, wanted) {
  return lines(text).reduce((total, [names, count]) => total + (wanted(names) ? count : 0), 0);
}
function modelOf(profile, patch = {}) {
  return new PageModel(profile, { ...startState(profile), ...patch });
}
function fnOf(profile, name) {
  for (let fn = 0; fn < profile.functionCount; fn++) if (profile.functionName(fn) === name) return fn;
  throw new Error(name);
}
/** Weight of the node at a path of names, or 0. */
function weightAt(profile, view, names) {
  const node = nodeOfPath(view, names.map((name) => fnOf(profile, name)));
  return view.depth[node] === names.length ? view.total[node] : 0;
}
/** Random folded text, the same for a seed. */
function randomText(seed, count) {
  let state = seed;
  const next = (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % limit;
  };
  return Array.from({ length: count }, () => {
    const names = Array.from({ length: 1 + next(9) }, () => 'f' + next(6));
    return `${names.join(';')} ${1 + next(20)}`;
  }).join('\n');
}

test('self and total of functions count a sample once', () => {
  for (const text of [TEXT, randomText(1, 60), randomText(2, 200)]) {
    const profile = profileFromFolded(text);
    const { figures } = modelOf(profile);
    for (let fn = 0; fn < profile.functionCount; fn++) {
      const name = profile.functionName(fn);
      assert.equal(figures.self[fn], sum(text, (names) => names.at(-1) === name), name);
      assert.equal(figures.total[fn], sum(text, (names) => names.includes(name)), name);
    }
  }
});

test('callers and callees count a sample once a row', () => {
  for (const text of [TEXT, randomText(3, 150)]) {
    const profile = profileFromFolded(text);
    const model = modelOf(profile);
    const name = (fn) => (fn === ROOT_ROW ? '[root]' : fn === SELF_ROW ? '[self]' : profile.functionName(fn));
    for (let fn = 0; fn < profile.functionCount; fn++) {
      const f = profile.functionName(fn);
      const above = (names) => names.flatMap((n, k) => (n === f ? [k === 0 ? '[root]' : names[k - 1]] : []));
      const below = (names) => names.flatMap((n, k) => (n === f ? [k === names.length - 1 ? '[self]' : names[k + 1]] : []));
      for (const row of callerRows(profile.tree, model.sums, fn)) {
        assert.equal(row.weight, sum(text, (names) => above(names).includes(name(row.fn))), `${name(row.fn)} > ${f}`);
      }
      const callees = calleeRows(profile.tree, model.sums, fn);
      for (const row of callees) {
        assert.equal(row.weight, sum(text, (names) => below(names).includes(name(row.fn))), `${f} > ${name(row.fn)}`);
      }
      const expected = new Set(lines(text).flatMap(([names]) => below(names)));
      assert.equal(callees.length, expected.size);
    }
  }
});

test('leaf first: a path from the leaf has the samples that end so', () => {
  for (const text of [TEXT, randomText(4, 120)]) {
    const profile = profileFromFolded(text);
    const view = modelOf(profile, { inverted: true }).flame;
    assert.equal(view.total[0], sum(text, () => true));
    for (const [names] of lines(text)) {
      for (let length = 1; length <= names.length; length++) {
        const end = names.slice(-length);
        assert.equal(weightAt(profile, view, [...end].reverse()),
          sum(text, (other) => other.slice(-length).join(';') === end.join(';')), end.join(';'));
      }
    }
  }
});

test('merged recursion: repeats of a function are one node', () => {
  const text = randomText(5, 150);
  const profile = profileFromFolded(text);
  const merged = (names) => names.filter((name, k) => k === 0 || name !== names[k - 1]);
  const down = modelOf(profile, { merged: true }).flame;
  const up = modelOf(profile, { merged: true, inverted: true }).flame;
  for (const [names] of lines(text)) {
    const path = merged(names);
    assert.equal(weightAt(profile, down, path), sum(text, (other) => merged(other).slice(0, path.length).join() === path.join()));
    assert.equal(weightAt(profile, up, [...path].reverse()), sum(text, (other) => merged(other).slice(-path.length).join() === path.join()));
  }
});

test('the middle of callers and callees has the total of the function', () => {
  const text = randomText(6, 150);
  const profile = profileFromFolded(text);
  for (let fn = 0; fn < profile.functionCount; fn++) {
    const model = modelOf(profile, { fn });
    const { callers, callees } = model.sandwich;
    assert.equal(callers.total[0], model.figures.total[fn]);
    assert.equal(callees.total[0], model.figures.total[fn]);
  }
});

test('children lie inside their parents, side by side', () => {
  const profile = profileFromFolded(randomText(7, 300));
  for (const patch of [{}, { inverted: true }, { merged: true }]) {
    const view = modelOf(profile, patch).flame;
    for (let i = 1; i < view.count; i++) {
      const parent = view.parent[i];
      assert.ok(parent < i && i < view.end[parent] && view.depth[i] === view.depth[parent] + 1);
      assert.ok(view.left[i] >= view.left[parent] && view.left[i] + view.total[i] <= view.left[parent] + view.total[parent] + 1e-6);
      if (i > 1) assert.ok(view.left[i] >= view.left[i - 1]);
      // A node's own weight comes first, so its last child ends where it ends.
      const last = view.end[i] === view.end[parent];
      if (last) assert.ok(Math.abs(view.left[i] + view.total[i] - view.left[parent] - view.total[parent]) < 1e-6);
    }
  }
});

test('what is too narrow is not built, and is built when zoomed to', () => {
  const wide = Array.from({ length: 20000 }, (_, k) => `main;f${k};g 1`).join('\n') + '\nmain;heavy 30000';
  const profile = profileFromFolded(wide);
  const far = modelOf(profile, { inverted: true }).flame;
  assert.ok(far.pruned && far.count < 20);
  const path = [fnOf(profile, 'g'), fnOf(profile, 'f77')];
  const near = modelOf(profile, { inverted: true, zoom: path });
  assert.equal(near.flame.depth[nodeOfPath(near.flame, path)], 2);
  assert.equal(near.flameWindow[1] - near.flameWindow[0], 1);
});

test('a search counts each callstack once', () => {
  const profile = profileFromFolded(TEXT);
  const model = modelOf(profile, { query: 'a', regex: false });
  const has = (names) => names.some((name) => name.includes('a'));
  assert.equal(model.matched, sum(TEXT, has));
  assert.equal(matchedWeight(model.whole, new Uint8Array(profile.functionCount)), 0);
});

test('nothing under half a pixel is drawn, and everything above it is', () => {
  const profile = profileFromFolded(randomText(8, 400));
  const view = wholeViewTree(profile.tree, { self: profile.self[0][0], oldSelf: null });
  for (const window of [[0, view.total[0]], [view.total[0] * 0.3, view.total[0] * 0.4], [view.left[5], view.left[5] + view.total[5]]]) {
    for (const pixels of [50, 900]) {
      const drawn = new Set(visibleRows(view, window, pixels).flat());
      const least = ((window[1] - window[0]) / pixels) / 2;
      for (let i = 0; i < view.count; i++) {
        const seen = view.total[i] >= least && view.left[i] < window[1] && view.left[i] + view.total[i] > window[0];
        assert.equal(drawn.has(i), seen, `node ${i}`);
      }
    }
  }
});

/** A tree of 200 chains below each of 3 functions, the heaviest first. */
function orderedText() {
  const text = [];
  for (const [k, heavy] of ['x', 'y', 'z'].entries()) {
    for (let i = 0; i < 200; i++) text.push(`${heavy};f${i};g${i % 7} ${(3 - k) * 1000 + 400 - 2 * i}`);
  }
  return text.join('\n');
}

test('where the heaviest come first the same is drawn, and rests stand for what is not', () => {
  const profile = profileFromFolded(orderedText());
  const weights = { self: profile.self[0][0], oldSelf: null };
  const plain = wholeViewTree(profile.tree, weights);
  const ordered = wholeViewTree(profile.tree, weights, true);
  for (let i = 1; i < ordered.count; i++) {
    const next = ordered.end[i];
    const isSibling = next < ordered.count && ordered.parent[next] === ordered.parent[i];
    assert.ok(!isSibling || ordered.total[next] <= ordered.total[i], 'the text is in order');
  }
  const total = plain.total[0];
  for (const window of [[0, total], [total * 0.3, total * 0.4]]) {
    for (const pixels of [90, 400, 4000]) {
      const rows = visibleRows(ordered, window, pixels);
      assert.deepEqual(rows, visibleRows(plain, window, pixels));
      assert.deepEqual(narrowRests(plain, rows, 0), []);
      // By row: what is drawn and what is left out are all that is there.
      const rests = narrowRests(ordered, rows, 1e-9);
      const within = (from, to) => Math.max(0, Math.min(window[1], to) - Math.max(window[0], from));
      for (let row = 1; row <= rows.length; row++) {
        let there = 0;
        for (let i = 0; i < plain.count; i++) {
          const shown = plain.depth[i] === row && (rows[row - 1] ?? []).includes(plain.parent[i]);
          if (shown) there += within(plain.left[i], plain.left[i] + plain.total[i]);
        }
        let seen = rests.filter((rest) => rest.row === row).reduce((sum_, rest) => sum_ + within(rest.from, rest.to), 0);
        for (const i of rows[row] ?? []) seen += within(plain.left[i], plain.left[i] + plain.total[i]);
        assert.ok(Math.abs(there - seen) < 1e-6 * total, `row ${row}: ${there} and ${seen}`);
      }
    }
  }
});

test('a place belongs to the node that is drawn there', () => {
  const profile = profileFromFolded(TEXT);
  const view = modelOf(profile).whole;
  const rows = visibleRows(view, [0, view.total[0]], 1000);
  for (let i = 0; i < view.count; i++) {
    assert.equal(nodeAt(view, rows, view.depth[i], view.left[i] + view.total[i] / 2), i);
  }
  assert.equal(nodeAt(view, rows, 99, 1), -1);
  assert.equal(nodeAt(view, rows, 1, view.total[0]), -1);
});

test('a path leads to its node and back', () => {
  const profile = profileFromFolded(randomText(9, 50));
  for (let i = 0; i < profile.tree.count; i++) {
    assert.equal(nodeOfPath(profile.tree, pathOfNode(profile.tree, i)), i);
  }
});

test('zooming keeps the place under the pointer, and ends at everything', () => {
  const closer = zoomedWindow([0, 1], 0.25, 0.5);
  assert.deepEqual(closer, [0.125, 0.625]);
  assert.equal(zoomedWindow(closer, 0.3, 2), null);
  assert.deepEqual(zoomedWindow([0.9, 1], 1, 2), [0.8, 1]);
});

test('a range of time and threads selects their samples alone', () => {
  const text = randomText(10, 210);
  const profile = timedProfile(text, 30, 4);
  const rows = lines(text);
  for (const [range, threads] of [[[0, 29], null], [[3, 7], null], [[3, 7], [1, 2]], [null, [0]], [[29, 29], [3]], [null, []]]) {
    const model = modelOf(profile, { range, threads });
    const counted = rows.filter((_, k) => (!range || (k % 30 >= range[0] && k % 30 <= range[1])) && (!threads || threads.includes(k % 4)));
    assert.equal(model.total, counted.reduce((total, [, count]) => total + count, 0));
    for (let fn = 0; fn < profile.functionCount; fn++) {
      const name = profile.functionName(fn);
      assert.equal(model.figures.total[fn], counted.reduce((total, [names, count]) => total + (names.includes(name) ? count : 0), 0));
    }
  }
});

test('a differential has the figures of both sides', () => {
  const [old, now] = [randomText(11, 100), randomText(12, 120)];
  const profile = profileFromFolded(now, old);
  for (const side of [0, 1]) {
    const { figures, flame } = modelOf(profile, { side });
    const [shown, other] = side === 1 ? [now, old] : [old, now];
    for (let fn = 0; fn < profile.functionCount; fn++) {
      const name = profile.functionName(fn);
      assert.equal(figures.total[fn], sum(shown, (names) => names.includes(name)));
      assert.equal(figures.oldTotal[fn], sum(other, (names) => names.includes(name)));
    }
    assert.deepEqual(flame.whole, [sum(shown, () => true), sum(other, () => true)]);
  }
});

test('an empty profile has nothing to show, and no errors', () => {
  const profile = profileFromFolded('');
  for (const patch of [{}, { inverted: true }, { merged: true }]) {
    const model = modelOf(profile, patch);
    assert.equal(model.total, 0);
    assert.equal(model.flame.count, 1);
    assert.equal(model.rows.length, 0);
    assert.deepEqual(visibleRows(model.flame, model.flameWindow, 100), []);
  }
});

test('callstacks of 60,000 frames', () => {
  const deep = Array.from({ length: 60000 }, (_, k) => 'f' + (k % 50)).join(';');
  const profile = profileFromFolded(`${deep} 1`);
  const model = modelOf(profile, { inverted: true });
  assert.equal(model.flame.count, 60001);
  assert.equal(model.figures.total[0], 1);
});

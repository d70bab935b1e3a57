// Trees, weights, callers and callees, time ranges: against plain sums over the folded lines.
import assert from 'node:assert/strict';
import test from 'node:test';
import { narrowRests, visibleRows, nodeAt, zoomedWindow } from '../../src/export/page/flame_layout.js';
import { calleeRows, callerRows, ROOT_ROW, SELF_ROW } from '../../src/export/page/function_rows.js';
import { PageModel } from '../../src/export/page/page_model.js';
import { bucketsPerColumn, weightColumns } from '../../src/export/page/sample_filter.js';
import { linkOfState, startState, stateOfLink } from '../../src/export/page/view_link.js';
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

/** By row: what is drawn and what is said to be left out are all that is there, in what is shown. */
function checkCovered(view, window, pixels, weightBelow) {
  const rows = visibleRows(view, window, pixels);
  const rests = narrowRests(view, rows, 1e-9);
  const within = (from, to) => Math.max(0, Math.min(window[1], to) - Math.max(window[0], from));
  for (let row = 1; row <= rows.length; row++) {
    let there = 0;
    for (const node of rows[row - 1]) {
      const to = view.left[node] + view.total[node];
      there += within(to - weightBelow(node), to);
    }
    let seen = rests.filter((rest) => rest.row === row).reduce((sum_, rest) => sum_ + within(rest.from, rest.to), 0);
    for (const i of rows[row] ?? []) seen += within(view.left[i], view.left[i] + view.total[i]);
    assert.ok(Math.abs(there - seen) < 1e-6 * view.total[0], `row ${row}: ${there} and ${seen}`);
  }
  return rests;
}

test('what is not drawn is marked, in every order of boxes', () => {
  const profile = profileFromFolded(orderedText());
  const weights = { self: profile.self[0][0], oldSelf: null };
  const plain = wholeViewTree(profile.tree, weights);
  const ordered = wholeViewTree(profile.tree, weights, true);
  for (let i = 1; i < ordered.count; i++) {
    const next = ordered.end[i];
    const isSibling = next < ordered.count && ordered.parent[next] === ordered.parent[i];
    assert.ok(!isSibling || ordered.total[next] <= ordered.total[i], 'the text is in order');
  }
  const turned = { self: weights.self.map((own, node) => (own * (node % 7)) / 3), oldSelf: null };
  const filtered = wholeViewTree(profile.tree, turned);
  const total = plain.total[0];
  for (const window of [[0, total], [total * 0.3, total * 0.4]]) {
    for (const pixels of [90, 400, 4000]) {
      assert.deepEqual(visibleRows(ordered, window, pixels), visibleRows(plain, window, pixels));
      assert.deepEqual(checkCovered(plain, window, pixels, (node) => plain.total[node] - weights.self[node]),
        checkCovered(ordered, window, pixels, (node) => plain.total[node] - weights.self[node]));
      const part = window.map((edge) => (edge / total) * filtered.total[0]);
      checkCovered(filtered, part, pixels, (node) => filtered.total[node] - turned.self[node]);
    }
  }
});

test('leaf first and with recursion merged, what is left out is marked to the last sample', () => {
  // A third of the weight is in leaves too narrow to be built.
  const narrow = Array.from({ length: 9000 }, (_, k) => `main;run;leaf ${k} 1`).join('\n');
  const profile = profileFromFolded(`main;run;wide 18000\nmain;run;run;again 9\n${narrow}`);
  const model = new PageModel(profile, { ...startState(profile), inverted: true });
  const leaves = model.flame;
  const total = leaves.total[0];
  assert.equal(leaves.below[0], total);
  const rests = checkCovered(leaves, [0, total], 1000, (node) => leaves.below[node]);
  const first = rests.filter((rest) => rest.row === 1).reduce((sum_, rest) => sum_ + rest.to - rest.from, 0);
  assert.equal(first, 9009);
  model.update({ inverted: false, merged: true });
  const merged = model.flame;
  const within = checkCovered(merged, [0, total], 1000, (node) => merged.below[node]);
  assert.equal(within.filter((rest) => rest.row === 3).reduce((sum_, rest) => sum_ + rest.to - rest.from, 0), 9009);
});

test('bars of a strip are sums of as many buckets each: equal weight, equal height', () => {
  // The same in every bucket.
  const text = Array.from({ length: 7000 }, (_, k) => `main;f${k % 5} 1`).join('\n');
  for (const [buckets, most] of [[1000, 600], [1000, 400], [1000, 37], [500, 600], [7, 3], [1, 600]]) {
    const profile = timedProfile(text, buckets, 2);
    const size = bucketsPerColumn(profile.timeline, most);
    const { all, byThread, byKind, totals } = weightColumns(profile, 0, size, (node) => node % 2);
    assert.ok(all.length <= most, `${all.length} of ${most}`);
    assert.equal(all.length, Math.ceil(buckets / size));
    for (const bar of all) assert.ok(Math.abs(bar - (7000 / buckets) * size) < 1e-3 * bar, `${buckets}, ${most}: ${bar}`);
    all.forEach((bar, k) => {
      const threads = byThread.reduce((sum_, one) => sum_ + (one[k] ?? 0), 0);
      const kinds = byKind.reduce((sum_, one) => sum_ + (one?.[k] ?? 0), 0);
      assert.ok(Math.abs(bar - threads) < 0.01 && Math.abs(bar - kinds) < 0.01);
    });
    assert.equal(totals[0] + totals[1], 7000);
  }
});

test('few samples make wide bars, many do not', () => {
  const few = timedProfile(Array.from({ length: 100 }, () => 'main 1').join('\n'), 1000, 1);
  assert.equal(bucketsPerColumn(few.timeline, 600), 17, 'never fewer than sixty');
  const some = timedProfile(Array.from({ length: 800 }, () => 'main 1').join('\n'), 1000, 1);
  assert.equal(bucketsPerColumn(some.timeline, 600), 5, 'four in a bar');
  const many = timedProfile(Array.from({ length: 8000 }, () => 'main 1').join('\n'), 1000, 1);
  assert.equal(bucketsPerColumn(many.timeline, 600), 2);
});

test('the legend counts what is selected, and colours stay', () => {
  const profile = timedProfile('a!f 3\nb!g 1\na!f 5\nb!g 2', 2, 1);
  const model = modelOf(profile, {});
  const weights = () => Object.fromEntries(model.legend.map((entry) => [entry.text, entry.weight]));
  assert.deepEqual(weights(), { a: 8, b: 3 });
  const kinds = model.legend.map((entry) => entry.kind);
  model.update({ range: [1, 1] });
  assert.deepEqual(weights(), { a: 0, b: 3 });
  assert.deepEqual(model.legend.map((entry) => entry.kind), kinds);
  model.update({ range: [0, 0], colour: 'mode' });
  assert.deepEqual(model.legend.map((entry) => entry.weight), [8]);
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

test('callstacks below processes and threads: sums by owner, ranges and threads count', () => {
  const text = Array.from({ length: 400 }, (_, k) => `main;${k % 3 ? 'a;b' : 'c'};leaf ${k % 11} ${1 + (k % 4)}`).join('\n');
  const profile = timedProfile(text, 10, 6);
  for (const root of ['process', 'thread']) {
    for (const patch of [{}, { range: [2, 5] }, { threads: [1, 2, 5] }]) {
      const model = modelOf(profile, { root, ...patch });
      const view = model.flame;
      assert.equal(view.total[0], model.whole.total[0]);
      const owners = Array.from({ length: view.count }, (_, node) => node).filter((node) => view.depth[node] === 1);
      assert.ok(owners.length > 1);
      for (const node of owners) {
        const title = model.profile.functionName(view.fn[node]);
        const { timeline, threads } = profile;
        let sum_ = 0;
        timeline.value.forEach((value, row) => {
          const thread = threads[timeline.thread[row]];
          const here = root === 'process' ? title === `${thread.process} (${thread.pid})` : title.endsWith(`thread ${thread.thread} (${thread.tid})`);
          const counts = (!patch.range || (timeline.bucket[row] >= 2 && timeline.bucket[row] <= 5)) &&
            (!patch.threads || patch.threads.includes(timeline.thread[row]));
          if (here && counts) sum_ += value;
        });
        assert.equal(view.total[node], sum_, title);
        assert.deepEqual(pathOfNode(view, nodeOfPath(view, [view.fn[node], view.fn[node + 1]])), [view.fn[node], view.fn[node + 1]]);
      }
      for (let i = 2; i < owners.length; i++) assert.ok(view.total[owners[i - 1]] >= view.total[owners[i]], 'the heaviest first');
      // Leaf first, owners are the last callers.
      model.update({ inverted: true });
      assert.equal(model.flame.total[0], view.total[0]);
      assert.deepEqual(Array.from(model.flame.fn).filter((fn) => fn >= profile.functionCount).length > 0, true);
    }
  }
});

test('what has no callstack is the owner\'s own; nodes of several owners stand below each', () => {
  const profile = timedProfile('main;a 2\nmain;a 3\nmain 4', 1, 3);
  // Thread 2 is of the second process; give it a sample without a callstack.
  profile.timeline.node[2] = 0;
  const model = modelOf(profile, { root: 'process' });
  const view = model.flame;
  const names = Array.from(view.fn.subarray(1), (fn) => model.profile.functionName(fn));
  assert.deepEqual(names, ['process 0 (100)', 'main', 'a', 'process 1 (101)']);
  assert.deepEqual(Array.from(view.total), [9, 5, 5, 5, 4]);
});

test('recordings of a machine begin with processes, links say otherwise', () => {
  const few = timedProfile('main;a 2\nmain;b 3', 2, 2);
  assert.equal(startState(few).root, 'none');
  const many = timedProfile(Array.from({ length: 8 }, (_, k) => `main;f${k} 1`).join('\n'), 2, 8);
  assert.equal(startState(many).root, 'process');
  assert.equal(stateOfLink('root=thread', many).root, 'thread');
  assert.equal(stateOfLink('root=none', many).root, 'none');
  assert.equal(stateOfLink(linkOfState({ ...startState(many), root: 'none' }, many), many).root, 'none');
  few.threads[0].pid = 0;
  assert.equal(startState(few).root, 'process', 'idle processors are there');
  assert.equal(stateOfLink('root=process', profileFromFolded('main 1')).root, 'none', 'no times, no processes');
});

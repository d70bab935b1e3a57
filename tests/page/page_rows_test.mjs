// What boxes, rows and colours stand for: code without a name, processes, callstacks whose callers are not known.
import assert from 'node:assert/strict';
import test from 'node:test';
import { functionColouring, LIGHT_PALETTE, moduleColouring } from '../../src/export/page/colour_rules.js';
import { chartBands, chartTree } from '../../src/export/page/chart_tree.js';
import { commandLine } from '../../src/export/page/command_line.js';
import { labelField, threadField } from '../../src/export/page/filter_bar.js';
import { visibleRows } from '../../src/export/page/flame_layout.js';
import { boxesOfScene } from '../../src/export/page/flame_painter.js';
import { PageModel } from '../../src/export/page/page_model.js';
import { threadTotals } from '../../src/export/page/sample_filter.js';
import { timelineRows } from '../../src/export/page/thread_table.js';
import { pathOfNode } from '../../src/export/page/tree_math.js';
import { linkOfState, startState, stateOfLink } from '../../src/export/page/view_link.js';
import { profileFromFolded, timedProfile } from './folded_profile.js';

const UNNAMED = ['main;zstd!zstd+0x10;zstd!zstd+0x20 3', 'main;zstd!zstd+0x30 4', 'main;zstd!named;zstd!zstd+0x10 5', '0x7f00 2'].join('\n');

function modelOf(profile, patch = {}) {
  return new PageModel(profile, { ...startState(profile), ...patch });
}
const rowsOf = (model) => Array.from(model.rows, (fn) => [model.profile.functionName(fn), model.figures.self[fn], model.figures.total[fn]]);

test('code without a name is a row of its module, and places in the graph', () => {
  const model = modelOf(profileFromFolded(UNNAMED));
  // Each sample counts once in a total, however many places of it are in the module.
  assert.deepEqual(rowsOf(model), [['[zstd]', 12, 12], ['[unknown]', 2, 2], ['main', 0, 12], ['named', 0, 5]]);
  const { whole, profile } = model;
  const named = Array.from({ length: whole.count - 1 }, (_, k) => profile.functionName(whole.fn[k + 1]));
  assert.ok(named.includes('zstd+0x20') && !named.includes('[zstd]'));
});

test('a row is found by its name and by any place in it', () => {
  for (const [query, rows] of [['[zstd]', ['[zstd]']], ['zstd+0x20', ['[zstd]']], ['named', ['named']]]) {
    const model = modelOf(profileFromFolded(UNNAMED), { query });
    assert.deepEqual(rowsOf(model).map((row) => row[0]), rows);
    assert.equal(model.search.functions, rows.length);
  }
  assert.equal(modelOf(profileFromFolded(UNNAMED), { query: '[zstd]' }).matched, 12);
});

test('callers and callees of a row', () => {
  const profile = profileFromFolded(UNNAMED);
  const model = modelOf(profile);
  const fn = Array.from(model.rows).find((row) => model.profile.functionName(row) === '[zstd]');
  const callers = modelOf(profile, { fn }).sandwich.callers;
  assert.equal(callers.total[0], 12);
  assert.equal(stateOfLink(`fn=${fn}`, model.profile).fn, fn);
});

test('below a process stands what is known of a callstack', () => {
  const profile = timedProfile(['[broken callstack];leaf 5', 'main;leaf 3', '[broken callstack];leaf;inner 2'].join('\n'), 3, 1);
  const model = modelOf(profile, { root: 'process' });
  const view = model.flame;
  const paths = Array.from({ length: view.count }, (_, node) => [pathOfNode(view, node).map((fn) => model.profile.functionName(fn)).join(';'), view.total[node]]);
  assert.deepEqual(paths, [['', 10], ['process 0 (100)', 10], ['process 0 (100);leaf', 7], ['process 0 (100);leaf;inner', 2],
    ['process 0 (100);main', 3], ['process 0 (100);main;leaf', 3]]);
});

test('of many processes those of one name are one box', () => {
  const text = Array.from({ length: 60 }, (_, k) => `main;f${k % 3} ${k + 1}`).join('\n');
  const profile = timedProfile(text, 60, 60);
  profile.threads = profile.threads.map((thread, k) => ({ ...thread, pid: k, process: k < 50 ? 'cc1plus' : `tool ${k % 2}` }));
  const model = modelOf(profile, { root: 'process' });
  const view = model.flame;
  const first = Array.from({ length: view.count }, (_, node) => node).filter((node) => view.depth[node] === 1);
  assert.deepEqual(first.map((node) => [model.profile.functionName(view.fn[node]), view.total[node]]),
    [['cc1plus, 50 processes', 1275], ['tool 1, 5 processes', 280], ['tool 0, 5 processes', 275]]);
});

test('boxes that are too narrow have the colour of what they are', () => {
  const text = Array.from({ length: 4000 }, (_, k) => `main;cc1plus!f${k} 1`).join('\n');
  const model = modelOf(profileFromFolded(text));
  const view = { ...model.whole };
  const scene = { view, rows: visibleRows(view, [0, 4000], 1000), window: [0, 4000], direction: 'down', width: 1000, contentHeight: 60,
    palette: LIGHT_PALETTE, colouring: model.colouring, mask: null, fitter: { widthOf: () => 10, labelOf: () => '' }, rootText: '', focus: -1, hover: -1, focused: false };
  const rest = boxesOfScene(scene, () => '').filter((box) => box.title.includes('narrower'));
  assert.ok(rest.reduce((sum, box) => sum + box.width, 0) > 900);
  for (const { fill } of rest) assert.ok(fill !== LIGHT_PALETTE.dimmed && new Set(fill.slice(1).match(/../g)).size > 1, fill);
});

test('without modules functions have colours of their own', () => {
  const profile = profileFromFolded('main;a 5\nmain;b 4\nmain;c 1');
  assert.equal(startState(profile).colour, 'function');
  assert.equal(startState(profileFromFolded('main;m!a 5')).colour, 'module');
  const self = Float64Array.from({ length: 4 }, (_, fn) => [0, 5, 4, 1][fn]);
  const { kind, legend } = functionColouring(profile, self);
  assert.deepEqual(legend.map(({ text, weight }) => [text, weight]), [['a', 5], ['b', 4], ['c', 1]]);
  assert.equal(new Set(kind.slice(1)).size, 3);
  assert.equal(new Set(moduleColouring(profile, self).kind).size, 1);
});

test('samples of switches: first comes how long threads were blocked', () => {
  const timed = timedProfile('main;a 1', 2, 1);
  const measures = ['sched:sched_switch', 'blocked'].map((name) => ({ ...timed.measures[0], name }));
  const lanes = { start: 0n, tick: 1, ticks: 2, count: 1, measures: [1, -1, -1], lanes: () => null };
  assert.equal(startState({ ...timed, measures, lanes }).measure, 1);
  assert.equal(startState({ ...timed, measures: [{ ...measures[0], name: 'cpu-clock' }, measures[1]], lanes }).measure, 0);
  assert.equal(startState({ ...timed, measures }).measure, 0);
});

test('a process of one thread is one row, and figures are those of a range', () => {
  const profile = timedProfile('main;a 1\nmain;b 2\nmain;c 4', 3, 3);
  const totals = threadTotals(profile, { measure: 0, range: null, label: '' });
  assert.deepEqual(Array.from(totals), [1, 2, 4]);
  assert.deepEqual(timelineRows(profile, totals).map((row) => row.text),
    ['process 1 (101): thread 2 (1002)', 'process 0 (100), 2 threads', 'thread 1 (1001)', 'thread 0 (1000)']);
  assert.deepEqual(Array.from(threadTotals(profile, { measure: 0, range: [1, 2], label: '' })), [0, 2, 4]);
});

/** A profile of one thread with a sample in each bucket, null for none: [bucket, thread, stack]. */
function chartOf(samples, buckets, threads) {
  const texts = samples.map(([, , stack]) => `${stack} 1`);
  const profile = timedProfile(texts.join('\n'), buckets, threads);
  const nodes = profile.rows.map(({ node }) => node.index);
  const rows = samples.map(([bucket, thread], k) => ({ bucket, thread, node: nodes[k] })).sort((a, b) => a.bucket - b.bucket || a.thread - b.thread || a.node - b.node);
  Object.assign(profile.timeline, { bucket: Uint32Array.from(rows, (row) => row.bucket), thread: Uint32Array.from(rows, (row) => row.thread),
    node: Uint32Array.from(rows, (row) => row.node), measure: new Uint8Array(rows.length), value: new Float64Array(rows.length).fill(1) });
  const model = modelOf(profile);
  const tree = chartTree(profile.tree, chartBands(profile, model.state), [0, buckets * profile.timeline.width], (thread) => 1000 + thread);
  return { profile, model, tree };
}
/** Boxes as [row, from, to, name], in buckets. */
function chartBoxes({ profile, tree }) {
  return Array.from({ length: tree.count }, (_, node) => node).slice(1).map((node) => [tree.depth[node], tree.left[node] / profile.timeline.width,
    (tree.left[node] + tree.total[node]) / profile.timeline.width, tree.fn[node] >= 1000 ? tree.fn[node] : profile.functionName(tree.fn[node])]);
}

test('a flame chart: neighbours that agree are one box, a gap parts them, threads have bands', () => {
  const boxes = chartBoxes(chartOf([[0, 0, 'main;a'], [1, 0, 'main;a;b'], [2, 0, 'main;c'], [20, 0, 'main;c'], [21, 0, 'main;c'], [5, 1, 'work']], 30, 2));
  assert.deepEqual(boxes, [[1, 0, 30, 1000], [2, 0, 3, 'main'], [3, 0, 2, 'a'], [4, 1, 2, 'b'], [3, 2, 3, 'c'],
    [2, 20, 22, 'main'], [3, 20, 22, 'c'], [5, 0, 30, 1001], [6, 5, 6, 'work']]);
});

test('a flame chart: a sample stands for the time up to the next one', () => {
  const boxes = chartBoxes(chartOf([0, 4, 8, 12].map((bucket) => [bucket, 0, bucket === 8 ? 'b' : 'a']), 20, 1));
  assert.deepEqual(boxes.slice(1), [[2, 0, 8, 'a'], [2, 8, 12, 'b'], [2, 12, 13, 'a']]);
});

test('a flame chart has every box of its window in a row of the picture, whatever the order', () => {
  const samples = Array.from({ length: 400 }, (_, k) => [k >> 1, k & 1, `f${k % 7};g${k % 3}`]);
  const { tree } = chartOf(samples, 200, 2);
  const rows = visibleRows(tree, [0, tree.total[0]], 2000).flat();
  assert.equal(rows.length, tree.count);
  // Too narrow to be boxes: one for each half pixel stays, in each row.
  const few = visibleRows(tree, [0, tree.total[0]], 20);
  for (const row of few.slice(2)) assert.ok(row.length <= 41 && row.length > 10 || row.length === 1, `${row.length}`);
});

test('a filter chooses all processes of a name, a process, or a thread', () => {
  const profile = timedProfile(Array.from({ length: 6 }, (_, k) => `main;f${k} ${k + 1}`).join('\n'), 6, 6);
  profile.threads = profile.threads.map((thread, k) => ({ ...thread, process: k < 4 ? 'cc' : 'ld', thread: `t${k}` }));
  const field = threadField(modelOf(profile));
  const told = field.groups().map(({ title, choices }) => [title, choices.map(({ text, patch }) => `${text}: ${patch.threads}`)]);
  assert.deepEqual(told, [['Processes of a name', ['cc, 2 processes: 0,1,2,3']],
    ['Processes', ['ld (102): 4,5', 'cc (101): 2,3', 'cc (100): 0,1']],
    ['Threads', ['t5 (1005): 5', 't4 (1004): 4', 't3 (1003): 3', 't2 (1002): 2', 't1 (1001): 1', 't0 (1000): 0']]]);
  const { state } = modelOf(profile);
  assert.equal(field.textOf(state), '');
  assert.equal(field.textOf({ ...state, threads: [2, 3] }), 'cc (101)');
  assert.equal(field.textOf({ ...state, threads: [0, 5] }), '2 of 6 threads');
});

test('samples are chosen by a label, with times or without', () => {
  const timed = timedProfile(['main;pay 5', 'main;pay 3', 'main;find 2', 'main;pay 4', 'main;find 7'].join('\n'), 5, 2,
    [[['route', '/pay'], ['user', 'ada']], [['route', '/find'], ['route', '/pay']]]);
  for (const profile of [timed, { ...timed, timeline: null }]) {
    const field = labelField(modelOf(profile));
    assert.deepEqual(field.groups().map(({ title, choices }) => [title, choices.map(({ text }) => text)]),
      [['Label route', ['/pay', '[no label]', '/find']], ['Label user', ['[no label]', 'ada']]]);
    const weightOf = (patch) => modelOf(profile, patch).total;
    const weights = field.groups().flatMap(({ choices }) => choices).map(({ patch }) => weightOf(patch));
    assert.deepEqual(weights, [12, 9, 2, 11, 10]);
    // Lines 0 and 3 have no label, 1 and 4 the first set; thread 1 has lines 1 and 3.
    assert.equal(weightOf({ label: 'route=/pay', threads: [1] }), 3);
    assert.deepEqual(rowsOf(modelOf(profile, { label: 'user=ada' })), [['find', 7, 7], ['pay', 3, 3], ['main', 0, 10]]);
    const link = linkOfState({ ...startState(profile), label: 'route=/pay' }, profile);
    assert.equal(stateOfLink(link, profile).label, 'route=/pay');
  }
  assert.equal(modelOf(timed, { label: 'route=/pay', range: [1, 2] }).total, 5);
  assert.deepEqual(threadTotals(timed, { measure: 0, range: null, label: 'user=ada' }), Float64Array.of(7, 3));
  assert.equal(stateOfLink('label=route%3D%2Fpay', profileFromFolded(UNNAMED)).label, '');
  const named = { ...timed, files: [['cpu.pprof']] };
  assert.equal(commandLine(named, { ...startState(named), label: 'route=/pay' }), 'stackpack top cpu.pprof --tree --label route=/pay');
  assert.equal(commandLine(named, { ...startState(named), label: 'route=/pay?*' }), '');
});

// Tables of events: how cells read, in which order rows come, and when there is such a view.
import assert from 'node:assert/strict';
import test from 'node:test';
import { cellText, sortedRows } from '../../src/export/page/event_tables.js';
import { hasView, linkOfState, startState, stateOfLink, tablesOf } from '../../src/export/page/view_link.js';
import { timedProfile } from './folded_profile.js';

const TABLE = {
  title: 'Collections', note: '', columns: [{ name: 'Paused', unit: 'ns' }, { name: 'Reason', unit: '' }],
  rows: [['900', 'small allocations'], ['18014398509481985', 'induced'], [null, 'large allocations'], ['18014398509481984', 'by hand']],
};
const reasons = (/** @type {number} */ column, /** @type {boolean} */ reversed) => sortedRows(TABLE, column, reversed).map((row) => row[1]);

test('cells: texts as they are, numbers by the unit of their column, what is not known as a dash', () => {
  assert.equal(cellText('System.String', ''), 'System.String');
  assert.equal(cellText('1234567', 'count'), '1,234,567');
  assert.equal(cellText('18014398509481985', 'count'), '18,014,398,509,481,985');
  assert.equal(cellText('1536', 'bytes'), '1.5 KiB');
  assert.equal(cellText('2500000', 'ns'), '2.5 ms');
  assert.equal(cellText(null, 'ns'), '–');
  assert.equal(cellText('', ''), '');
});

test('rows: numbers from the largest, beyond 2^53 too, texts from A, and the other way round', () => {
  assert.deepEqual(reasons(0, false), ['induced', 'by hand', 'small allocations', 'large allocations']);
  assert.deepEqual(reasons(0, true), ['small allocations', 'by hand', 'induced', 'large allocations']);
  assert.deepEqual(reasons(1, false), ['by hand', 'induced', 'large allocations', 'small allocations']);
  assert.deepEqual(reasons(1, true), ['small allocations', 'large allocations', 'induced', 'by hand']);
  assert.equal(TABLE.rows[0][1], 'small allocations');
});

test('source lines: a view of their own, as they were written', () => {
  const source = { title: 'f – a.c', note: '', columns: [{ name: 'Self', unit: 'ns' }, { name: 'Source', unit: 'code' }],
    rows: [['5', 'b();'], [null, '\ta();']] };
  const profile = { ...timedProfile('a;b 1', 1, 1), tables: [TABLE, source] };
  assert.deepEqual(tablesOf(profile.tables, true), [source]);
  assert.deepEqual(tablesOf(profile.tables, false), [TABLE]);
  assert.equal(hasView(profile, 'source'), true);
  assert.equal(hasView({ ...profile, tables: [TABLE] }, 'source'), false);
  assert.equal(hasView({ ...profile, tables: [source] }, 'events'), false);
  assert.equal(cellText('\ta();', 'code'), '\ta();');
  assert.deepEqual(sortedRows(source, 1, false).map((row) => row[0]), [null, '5']);
});

test('the view: only where there are tables, and in links', () => {
  const without = timedProfile('a;b 1', 1, 1);
  const profile = { ...without, tables: [TABLE] };
  assert.equal(hasView(without, 'events'), false);
  assert.equal(hasView(profile, 'events'), true);
  assert.equal(hasView(without, 'functions'), true);
  assert.equal(stateOfLink('view=events', without).view, 'flame');
  assert.equal(stateOfLink('view=events', profile).view, 'events');
  assert.equal(linkOfState({ ...startState(profile), view: 'events' }, profile), 'view=events');
});

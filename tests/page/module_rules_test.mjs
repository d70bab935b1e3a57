// The modules become one script: names are unique over all of them, imports point to modules listed before.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../src/export/page/', import.meta.url));
const listed = readFileSync(folder + 'modules.txt', 'utf8').trim().split('\n');

test('every module is listed, and every listed one is there', () => {
  const there = readdirSync(folder).filter((name) => name.endsWith('.js'));
  assert.deepEqual([...listed].sort(), there.sort());
});

test('names at the top of modules are unique', () => {
  const owner = new Map();
  for (const module of listed) {
    for (const match of readFileSync(folder + module, 'utf8').matchAll(/^(?:export )?(?:async )?(?:const|let|class|function) (\w+)/gm)) {
      assert.ok(!owner.has(match[1]), `${match[1]} in ${owner.get(match[1])} and ${module}`);
      owner.set(match[1], module);
    }
  }
  assert.ok(owner.size > 100);
});

test('imports are one line, of modules listed before, and used', () => {
  listed.forEach((module, place) => {
    const text = readFileSync(folder + module, 'utf8');
    for (const line of text.split('\n').filter((part) => /^import\b/.test(part))) {
      const match = /^import \{ ?([\w, ]+?) ?\} from '\.\/(\w+\.js)';$/.exec(line);
      assert.ok(match, `${module}: ${line}`);
      const from = listed.indexOf(match[2]);
      assert.ok(from >= 0 && from < place, `${module} imports ${match[2]}, which is listed later`);
      for (const name of match[1].split(', ')) {
        assert.ok(new RegExp(`\\b${name}\\b`).test(text.replace(line, '')), `${module} does not use ${name}`);
      }
    }
    assert.ok(!/^export (?!(?:const|class|function|async function) )/m.test(text), `${module}: form of an export`);
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|DOMParser/.test(text), `${module} makes HTML of text`);
    assert.ok(!/<\/script|<!--/i.test(text), `${module} would end the script`);
  });
});

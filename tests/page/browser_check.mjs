// Opens pages in a browser, from disk, and does what people do: browser_check.mjs chrome|firefox PROGRAM STACKPACK SCRATCH.
// Exits with 1 and a line for each thing that is not as it should be.
import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , kind, program, stackpack, scratch] = process.argv;
const require = createRequire(join(process.env.STACKPACK_CLIENTS ?? '.', 'package.json'));
const puppeteer = require('puppeteer-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const testdata = new URL('../../testdata/', import.meta.url).pathname;
const VIEWS = ['flame', 'sandwich', 'functions', 'timeline', 'chart'];

let failures = 0;
/** One line for what is wrong. */
function check(what, value, expected = true) {
  const same = JSON.stringify(value) === JSON.stringify(expected);
  if (!same) {
    failures++;
    console.log(`${kind}: ${what}: ${JSON.stringify(value)?.slice(0, 600)}, expected ${JSON.stringify(expected)?.slice(0, 600)}`);
  }
  return same;
}

function run(...words) {
  return execFileSync(stackpack, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
}
function file(name) {
  return join(scratch, name);
}
/** A page of a capture or of folded text. */
function makePage(name, input, ...options) {
  run('convert', input, '-o', file(`${name}.spk`), '--force', '--quiet');
  run('export', file(`${name}.spk`), '--format', 'html', ...(name === 'empty' ? [] : ['--count', 'samples']), '-o', file(`${name}.html`), '--force', '--keep-broken', ...options);
  return file(`${name}.html`);
}

const HOSTILE = ['<img src=x onerror=alert(1)>', '</script><script>alert(2)</script>', '"\'><svg onload=alert(3)>', '{{7*7}}${8*8}',
  'a\u202egnp.exe', 'javascript:alert(4)', '&lt;b&gt;&amp;', '__proto__', 'constructor', 'toString', '%00%0d', 'x'.repeat(20000),
  '<!-- --!>', 'ns::T<int, std::less<int>>::f(char const*)'];

/** A page that is ready, with all its requests and errors. */
async function open(browser, path, hash = '', viewport = { width: 1280, height: 800 }) {
  const page = await browser.newPage();
  await page.setViewport(viewport);
  const seen = { requests: [], errors: [] };
  page.on('request', (request) => seen.requests.push(request.url()));
  page.on('pageerror', (error) => seen.errors.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') seen.errors.push(message.text()); });
  page.on('dialog', (dialog) => { seen.errors.push('dialog ' + dialog.message()); void dialog.dismiss(); });
  await page.goto(pathToFileURL(path).href + (hash ? '#' + hash : ''));
  await page.waitForSelector('html[data-ready]');
  return { page, seen };
}
async function finish({ page, seen }, what) {
  const outside = seen.requests.filter((url) => !url.startsWith('file:') && !url.startsWith('blob:') && !url.startsWith('data:'));
  check(`${what}: requests to elsewhere`, outside, []);
  // Firefox does not report what is read from disk; what a page loads stands in its own list as well.
  check(`${what}: other files read`, seen.requests.filter((url) => url.startsWith('file:')).length <= 1);
  check(`${what}: resources`, await page.evaluate(() => performance.getEntriesByType('resource').length), 0);
  check(`${what}: errors`, seen.errors, []);
  await page.close();
}
const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);
const settle = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done(0))); }));
/** The address is noted a moment after what is seen. */
async function linkHas(page, text) {
  await settle(page);
  return page.evaluate((wanted) => location.hash.includes(wanted), text);
}
async function goTo(page, hash) {
  await page.evaluate((link) => { location.hash = link; }, hash);
  await settle(page);
}

/** Every row of the table, by scrolling through it. */
function tableRows(page) {
  return page.evaluate(async () => {
    const scroller = document.querySelector('#panel-functions .table-scroller');
    const found = new Map();
    for (let top = 0; ; top += 300) {
      scroller.scrollTop = top;
      scroller.dispatchEvent(new Event('scroll'));
      await new Promise((done) => { requestAnimationFrame(done); });
      for (const row of scroller.querySelectorAll('tbody tr[data-fn]')) {
        const number = (column) => Number(row.children[column].querySelector('.weight').textContent.replaceAll(',', ''));
        found.set(row.dataset.fn, { name: row.querySelector('button').textContent, module: row.children[1].textContent, self: number(2), total: number(3) });
      }
      if (top > scroller.scrollHeight) return Array.from(found.values());
    }
  });
}
const rowKey = (row) => `${row.name}|${row.self}|${row.total}`;

async function checkTotals(browser, path, spk) {
  const opened = await open(browser, path, 'view=functions');
  const { page } = opened;
  const top = JSON.parse(run('top', spk, '--json', '--count', 'samples', '-n', '1000000', '--keep-broken'));
  const named = (row) => row.name;
  const shown = await tableRows(page);
  const known = top.rows.filter((row) => row.total > 0);
  check('functions of the table and of top', shown.map(rowKey).sort(), known.map((row) => rowKey({ ...row, name: named(row) })).sort());
  const summary = await textOf(page, '.summary');
  check('samples of the summary', summary.split(' ')[0].replaceAll(',', ''), String(top.samples));
  for (const row of shown) {
    await page.evaluate((name) => {
      const field = document.querySelector('input[type=search]');
      field.value = name;
      field.dispatchEvent(new Event('input'));
    }, row.name);
    const found = await page.$$eval('#panel-functions tbody tr[data-fn] button', (buttons) => buttons.map((button) => button.textContent));
    if (!check(`search finds ${row.name}`, found.includes(row.name))) break;
  }
  await finish(opened, 'totals');
}

/** The rows of the command line: code without a name is its module's, however many places it is in. */
async function checkRows(browser) {
  for (const name of ['zstd', 'threads', 'no-chains', 'dwarf']) {
    const capture = join(testdata, `${name}.perf.data`);
    run('export', capture, '--format', 'html', '--count', 'samples', '-o', file('rows.html'), '--force');
    const opened = await open(browser, file('rows.html'), 'view=functions');
    const told = JSON.parse(run('top', capture, '--json', '--count', 'samples', '-n', '1000000'));
    check(`rows of ${name}`, (await tableRows(opened.page)).map(rowKey).sort(), told.rows.filter((row) => row.total > 0).map(rowKey).sort());
    await finish(opened, `rows of ${name}`);
  }
}

/** Lanes of the timeline: on the axis of the strip, a row for a process of one thread, figures of the range. */
async function checkThreadLanes(browser, path) {
  const opened = await open(browser, path, 'view=timeline');
  const { page } = opened;
  await settle(page);
  const edges = (selector) => page.$eval(selector, (element) => { const box = element.getBoundingClientRect(); return [box.left, box.right].map(Math.round); });
  check('timeline: lanes line up with the strip', await edges('.threads td.lane canvas'), await edges('.time-overview canvas'));
  check('timeline: an axis', await edges('.threads .time-marks'), await edges('.time-overview canvas'));
  check('timeline: what is counted', await textOf(page, '.threads thead .number'), 'Samples');
  const rows = () => page.$$eval('.threads tbody tr:not(.spacer)', (all) => all.map((row) => [row.className, Number(row.querySelector('.weight').textContent.replaceAll(',', ''))]));
  const sum = (list) => list.filter(([kind]) => kind === 'process').reduce((all, [, weight]) => all + weight, 0);
  const names = await page.$$eval('.threads tbody th', (all) => all.map((row) => row.textContent));
  check('timeline: no row twice', new Set(names).size, names.length);
  const samplesOf = async () => Number((await textOf(page, '.summary')).split(' ')[0].replaceAll(',', ''));
  check('timeline: all of it', sum(await rows()), await samplesOf());
  const whole = sum(await rows());
  await dragOverview(page);
  check('timeline: figures of the range', sum(await rows()), await samplesOf());
  check('timeline: which are fewer', sum(await rows()) < whole);
  await finish(opened, 'lanes of threads');
}

/** Of thousands of threads those in sight are there: opening, scrolling and hovering cost what one sees. */
async function checkManyThreads(browser) {
  const sample = (k) => `prog ${k}/${k} [000] ${(10 + k / 1000).toFixed(6)}: 1000000 cpu-clock: \n\t401000 main+0x0 (/usr/bin/prog)\n\n`;
  writeFileSync(file('many.txt'), Array.from({ length: 1500 }, (_, k) => sample(k + 1)).join(''));
  const opened = await open(browser, makePage('many', file('many.txt')), 'view=timeline');
  const { page } = opened;
  await settle(page);
  const shown = () => page.$$eval('.threads tbody tr:not(.spacer) th', (all) => all.map((row) => row.textContent));
  const first = await shown();
  check('timeline: rows in sight', first.length > 10 && first.length < 60);
  check('timeline: how many there are', await page.$eval('.threads', (table) => table.getAttribute('aria-rowcount')), '1501');
  await page.$eval('#panel-timeline .table-scroller', (scroller) => { scroller.scrollTop = scroller.scrollHeight; });
  await settle(page);
  await settle(page);
  const last = await shown();
  check('timeline: other rows after scrolling', last.length < 60 && !last.some((text) => first.includes(text)));
  check('timeline: the last one', last.at(-1), 'prog (1500)');
  await finish(opened, 'many threads');
}

/** Things that are said once, in the right place, and to the end. */
async function checkWords(browser, path) {
  const opened = await open(browser, path, 'view=sandwich');
  const { page } = opened;
  await settle(page);
  await page.keyboard.press('?');
  const keys = await page.$eval('.keys tr td', (cell) => cell.textContent);
  check('keys of the tabs that there are', keys, (await page.$$eval('[role=tab]:not([hidden])', (tabs) => tabs.map((tab) => tab.textContent.toLowerCase()))).join(', '));
  const said = await page.$$eval('dialog[aria-labelledby=dialog-about-this-capture] tr', (rows) => rows.map((row) => row.textContent));
  check('about: no fact twice', said.filter((text) => /^Samples|^Resolution/.test(text)), []);
  await finish(opened, 'words');
  const chain = (name, count) => Array.from({ length: count }, (_, k) => name + k).join(';');
  writeFileSync(file('middle.folded'), `${chain('caller', 8)};hot 50\n${chain('caller', 8)};hot;${chain('callee', 28)} 5\n`);
  const middle = await open(browser, makePage('middle', file('middle.folded')), 'view=sandwich');
  await new Promise((done) => { setTimeout(done, 300); });
  const [most, gap] = await middle.page.$eval('#panel-sandwich .flame-scroller', (pane) => [pane.scrollHeight - pane.clientHeight, pane.scrollHeight - pane.clientHeight - pane.scrollTop]);
  check('the callers touch the function', most > 20 && gap <= 1);
  await finish(middle, 'middle');
  writeFileSync(file('broken.folded'), '[broken callstack];leaf 9\nmain;leaf 1\n');
  const broken = await open(browser, makePage('broken', file('broken.folded')));
  const box = await (await broken.page.$('#panel-flame canvas')).boundingBox();
  await broken.page.mouse.move(box.x + 40, box.y + 30);
  await settle(broken.page);
  check('why a callstack is broken', (await textOf(broken.page, '.hover-card')).includes('--call-graph dwarf'));
  check('no modules: a colour for each function', await broken.page.$$eval('.legend .kind', (kinds) => kinds.map((kind) => kind.textContent)), ['leaf']);
  await finish(broken, 'broken');
}

/** The flame chart zooms to a box and back, and counts what is chosen; a filter is that of the command line. */
async function checkChart(browser) {
  const capture = join(testdata, 'threads.perf.data');
  run('export', capture, '--format', 'html', '--count', 'samples', '-o', file('chart.html'), '--force');
  const opened = await open(browser, file('chart.html'), 'view=chart');
  const { page } = opened;
  await settle(page);
  const box = await (await page.$('#panel-chart canvas')).boundingBox();
  const marks = () => textOf(page, '.chart-marks');
  const whole = await marks();
  let place = 0;
  for (let x = 20; x < box.width && !place; x += 5) {
    await page.mouse.move(box.x + x, box.y + 50);
    if (await page.$eval('.hover-card', (card) => !card.hidden && card.textContent.includes('lasts'))) place = x;
  }
  check('chart: a box says how long it lasts', place > 0);
  await page.mouse.click(box.x + place, box.y + 50);
  await settle(page);
  check('chart: a click zooms', (await marks()) !== whole);
  await page.keyboard.press('Escape');
  await settle(page);
  check('chart: Esc shows all', await marks(), whole);
  await page.focus('.filter-bar select');
  const threads = await page.$$eval('.filter-bar optgroup[label=Threads] option', (all) => all.map((option) => [option.value, option.textContent]));
  check('filter: threads', threads.length > 1);
  for (const [value, text] of threads.slice(0, 3)) {
    await page.select('.filter-bar select', value);
    await settle(page);
    const told = JSON.parse(run('top', capture, '--json', '--count', 'samples', '--tid', /\((\d+)\)$/.exec(text)[1]));
    check(`filter: samples of ${text}`, Number((await textOf(page, '.summary')).split(' ')[0].replaceAll(',', '')), told.samples);
    check('filter: what is chosen is said', await textOf(page, '.filter'), `${text} ×`);
  }
  await page.click('.filter');
  await settle(page);
  check('filter: none', await page.$('.filter'), null);
  await finish(opened, 'chart');
}

/** Samples of a label are those that the command line counts, in every view; a profile without times has them, too. */
async function checkLabels(browser) {
  const opened = await open(browser, makePage('labels', join(testdata, 'pprof', 'go.cpu.pb.gz')), 'view=functions');
  const { page } = opened;
  await page.focus('.filter-bar select');
  const labels = await page.$$eval('.filter-bar optgroup', (groups) => groups.flatMap((group) => Array.from(group.children, (option) => [option.value, `${group.label.replace(/^Label /, '')}=${option.textContent}`])));
  check('labels: what there is', labels.map(([, text]) => text).sort(), ['route=/pay', 'route=/search', 'route=[no label]', 'user=[no label]', 'user=ada', 'user=bob']);
  for (const [value, text] of labels) {
    await page.select('.filter-bar select', value);
    await settle(page);
    const told = JSON.parse(run('top', file('labels.spk'), '--json', '--count', 'samples', '-n', '1000000', '--label', text));
    check(`labels: rows of ${text}`, (await tableRows(page)).map(rowKey).sort(), told.rows.filter((row) => row.total > 0).map(rowKey).sort());
    check('labels: what is chosen is said', await textOf(page, '.filter'), `${text} ×`);
  }
  check('labels: a link has them', new URLSearchParams(await page.evaluate(() => location.hash.slice(1))).get('label'), labels.at(-1)[1]);
  await page.click('.filter');
  await settle(page);
  check('labels: none', await page.$('.filter'), null);
  await finish(opened, 'labels');
}

/** The command line that the page gives says the same as the page. */
async function checkCommand(browser) {
  run('export', file('capture.spk'), '--format', 'html', '-o', file('command.html'), '--force');
  const told = (line) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `${line.replace(/^stackpack/, '"$0"')} --json -n 100000`, stackpack], { cwd: scratch, encoding: 'utf8' });
    // Of a page without samples nothing is shown; the command says so.
    if (status !== 0 && stderr.includes('no sample of the file is selected')) return { rows: [] };
    check(`status of ${line}`, status, 0);
    return JSON.parse(stdout);
  };
  const first = await open(browser, file('command.html'), 'view=timeline');
  const buckets = await first.page.$eval('.time-handle', (handle) => Number(handle.getAttribute('aria-valuemax')));
  await finish(first, 'command');
  const range = `range=${Math.floor(buckets / 4)}-${Math.floor(buckets / 2)}`;
  for (const part of ['', range, 'threads=0', `${range}&threads=0`, `${range}&threads=0.1`, 'search=frames', 'search=*mem*', 'search=%2F%5E__m%2F', 'search=m.m&regex=1']) {
    const opened = await open(browser, file('command.html'), `view=functions&measure=1&${part}`);
    const line = await opened.page.evaluate(() => Array.from(document.querySelectorAll('.head-actions button')).find((button) => button.textContent === 'Copy command').title);
    const rows = await opened.page.$('.functions tbody tr[data-fn]') ? (await tableRows(opened.page)).map(rowKey).sort() : [];
    check(`a command for ${part}`, line.startsWith('stackpack top capture.spk '));
    if (line !== '') check(`command of ${part}: ${line}`, told(line).rows.filter((row) => row.total > 0).map(rowKey).sort(), rows);
    await finish(opened, 'command');
  }
}

async function checkCallers(browser, path, spk) {
  const opened = await open(browser, path, 'view=functions');
  const { page } = opened;
  const heaviest = (await tableRows(page)).filter((row) => !row.name.startsWith('[')).sort((a, b) => b.total - a.total).slice(0, 4);
  for (const { name } of heaviest) {
    await goTo(page, 'view=functions');
    await page.evaluate(async (wanted) => {
      const field = document.querySelector('input[type=search]');
      field.value = wanted;
      field.dispatchEvent(new Event('input'));
      Array.from(document.querySelectorAll('#panel-functions tbody button')).find((button) => button.textContent === wanted).click();
    }, name);
    for (const [command, place] of [['callers', 0], ['callees', 1]]) {
      const rows = await page.evaluate((which) => Array.from(document.querySelectorAll('.neighbours')[which].querySelectorAll('tbody tr'),
        (row) => `${row.children[0].textContent}|${row.querySelector('.weight').textContent.replaceAll(',', '')}`), place);
      const told = JSON.parse(run(command, spk, name, '--json', '--count', 'samples', '-n', '1000000', '--keep-broken'));
      const expected = told.rows.map((row) => `${row.name}|${row.total}`);
      check(`${command} of ${name}`, rows.sort(), expected.sort());
    }
  }
  await finish(opened, 'callers');
}

async function checkKeyboard(browser, path) {
  const opened = await open(browser, path);
  const { page } = opened;
  const focused = () => page.evaluate(() => {
    const element = document.activeElement;
    const id = element?.getAttribute('aria-activedescendant');
    return id ? document.getElementById(id)?.textContent : element?.textContent;
  });
  await page.keyboard.press('1');
  check('keyboard: the graph has the focus', (await focused())?.startsWith('all'));
  await page.keyboard.press('ArrowDown');
  const first = await focused();
  check('keyboard: down leads to a callee', first !== undefined && !first.startsWith('all'));
  await page.keyboard.press('Enter');
  check('keyboard: Enter zooms', await linkHas(page, 'zoom='));
  await page.keyboard.press('Escape');
  check('keyboard: Escape leaves', await linkHas(page, 'zoom='), false);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('s');
  check('keyboard: s leads to callers and callees', await linkHas(page, 'view=sandwich'));
  await page.keyboard.press('3');
  await settle(page);
  const before = await focused();
  await page.keyboard.press('ArrowDown');
  check('keyboard: another row', (await focused()) !== before);
  await page.keyboard.press('Enter');
  check('keyboard: Enter on a row', await linkHas(page, 'view=sandwich'));
  await page.keyboard.press('?');
  check('keyboard: help', await page.$eval('dialog[open] h2', (head) => head.textContent), 'Keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('(');
  check('keyboard: search', await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  check('a bad expression says so', (await textOf(page, '.search-result')).startsWith('not a regular expression'));
  for (const key of ['i', 'm', 'd', 'o', 't']) {
    await goTo(page, '');
    await page.evaluate(() => document.querySelector('.flame-mirror')?.focus());
    await page.keyboard.press(key);
    check(`keyboard: ${key} changes the view`, await linkHas(page, '='));
  }
  await walkByTab(page);
  await finish(opened, 'keyboard');
}

/** Tab reaches every part, and leads out again. */
async function walkByTab(page) {
  await goTo(page, '');
  await page.evaluate(() => { document.activeElement?.blur(); });
  const reached = new Set();
  for (let k = 0; k < 40; k++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute('aria-label') || element?.textContent?.slice(0, 30) || element?.tagName;
    }));
  }
  for (const part of ['Search functions', 'Flame graph: arrows move, Enter zooms', 'Start of the range', 'Leaf first', 'Copy callstack']) {
    check(`Tab reaches ${part}`, reached.has(part));
  }
}

async function dragOverview(page) {
  const box = await (await page.$('.time-overview canvas')).boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 10, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.6, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await settle(page);
}

async function checkTimeline(browser, path) {
  const opened = await open(browser, path);
  const { page } = opened;
  const whole = await textOf(page, '.summary');
  await dragOverview(page);
  const part = await textOf(page, '.summary');
  check('a dragged range selects a part', part !== whole && part.includes('selected'));
  check('after a drag nothing has the focus', await page.evaluate(() => document.activeElement === document.body));
  for (const key of ['Escape', 'Backspace']) {
    await page.keyboard.press(key);
    check(`${key} takes the selection away`, await textOf(page, '.summary'), whole);
    await dragOverview(page);
  }
  check('the same range again', await textOf(page, '.summary'), part);
  const samples = Number(part.split(' ')[0].replaceAll(',', ''));
  await page.keyboard.press('3');
  const rows = await tableRows(page);
  check('the table has the part', rows.reduce((sum, row) => sum + row.self, 0) <= samples && rows.length > 0);
  await settle(page);
  const link = await page.evaluate(() => location.href);
  const again = await open(browser, path, link.slice(link.indexOf('#') + 1));
  check('a link restores the range', await textOf(again.page, '.summary'), part);
  check('a link restores the view', await again.page.$eval('[role=tab][aria-selected=true]', (tab) => tab.textContent), 'Functions');
  await finish(again, 'link');
  await page.evaluate(() => document.querySelector('.time-line button').click());
  check('everything again', await textOf(page, '.summary'), whole);
  check('the resolution is shown', (await textOf(page, '.time-note')).includes('buckets'));
  await page.focus('.time-handle');
  await page.keyboard.press('PageUp');
  check('the range by keyboard', (await textOf(page, '.summary')).includes('selected'));
  await finish(opened, 'timeline');
}

async function checkMouse(browser, path) {
  const opened = await open(browser, path);
  const { page } = opened;
  const box = await (await page.$('#panel-flame canvas')).boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + 50);
  await settle(page);
  check('hover says what is below the pointer', await page.$eval('.hover-card', (card) => !card.hidden && card.textContent.length > 10));
  await page.mouse.click(box.x + box.width / 3, box.y + 50);
  check('a click zooms', await linkHas(page, 'zoom='));
  check('the path is shown', (await page.$$('.path-bar button')).length >= 2);
  await page.keyboard.down('Control');
  await page.mouse.wheel({ deltaY: -400 });
  await page.keyboard.up('Control');
  await settle(page);
  check('the wheel zooms', await linkHas(page, 'window='));
  await page.evaluate(() => history.back());
  await settle(page);
  await settle(page);
  check('back leaves the zoom', await linkHas(page, 'zoom='), false);
  await finish(opened, 'mouse');
}

async function checkAccess(browser, path, name) {
  for (const theme of ['light', 'dark']) {
    for (const view of VIEWS) {
      const opened = await open(browser, path, `view=${view}&theme=${theme}`);
      const { page } = opened;
      await settle(page);
      check(`axe: ${name}, ${view}, ${theme}`, await axeFindings(page), []);
      await finish(opened, `${view}, ${theme}`);
    }
  }
}

/** What axe-core finds that is more than minor. */
async function axeFindings(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return result.violations.filter((violation) => ['serious', 'critical', 'moderate'].includes(violation.impact))
      .map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.target.join(' ')).join('; ')}`);
  });
}

/** The wheel zooms in callers, of which there are many, and Esc leaves the zoom before the view. */
async function checkSandwichWheel(browser, path) {
  const opened = await open(browser, path, 'view=sandwich');
  const { page } = opened;
  await settle(page);
  const zoom = () => page.evaluate(() => {
    const canvas = document.querySelector('#panel-sandwich .flame-panel:first-of-type canvas');
    const box = canvas.getBoundingClientRect();
    const before = canvas.toDataURL();
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -600, ctrlKey: true, clientX: box.left + box.width / 3, clientY: box.top + 5, bubbles: true, cancelable: true }));
    return before !== canvas.toDataURL();
  });
  check('the wheel zooms callers', await zoom());
  await new Promise((done) => { setTimeout(done, 300); });
  await page.evaluate(() => document.querySelector('#panel-sandwich .flame-panel:first-of-type [role=tree]').focus());
  await page.keyboard.press('Escape');
  check('Esc leaves the zoom alone', await page.evaluate(() => !document.getElementById('panel-sandwich').hidden));
  await page.keyboard.press('Escape');
  await settle(page);
  check('Esc leaves the view then', await page.evaluate(() => document.getElementById('panel-sandwich').hidden));
  await finish(opened, 'wheel in the sandwich');
}

/** What reaches beyond the window, or beyond an element that cuts it off, though it is no text that ends with an ellipsis. */
const cutOff = (page) => page.evaluate(() => [...document.querySelectorAll('.tabs button, .legend li, .functions th, .functions td, .time-marks span, .toolbar > *')]
  .filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.left < -1 || box.right > innerWidth + 1 || (element.tagName === 'TH' && element.scope === 'col' && element.scrollWidth > element.clientWidth + 1));
  }).map((element) => `${element.tagName} ${element.textContent?.slice(0, 40)}`));

/** A phone's window: nothing is cut off, and functions have room for their names. */
async function checkPhone(browser, path, what) {
  for (const view of VIEWS) {
    const opened = await open(browser, path, `view=${view}`, { width: 390, height: 844 });
    await settle(opened.page);
    check(`${what}, ${view}: cut off at 390 pixels`, await cutOff(opened.page), []);
    if (view === 'functions') {
      check(`${what}: room for names`, await opened.page.evaluate(() => (document.querySelector('.functions tbody .name')?.getBoundingClientRect().width ?? 0) > 110));
    }
    await finish(opened, `phone ${what} ${view}`);
  }
}

async function checkNarrow(browser, path) {
  for (const view of VIEWS) {
    const opened = await open(browser, path, `view=${view}`, { width: 360, height: 700 });
    await settle(opened.page);
    check(`${view}: nothing beyond a narrow window`, await opened.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    check(`axe: narrow, ${view}`, await axeFindings(opened.page), []);
    await finish(opened, `narrow ${view}`);
  }
}

async function checkHostile(browser, path) {
  for (const view of VIEWS) {
    const opened = await open(browser, path, `view=${view}&search=img`);
    await settle(opened.page);
    check(`${view}: names make no elements`, await opened.page.evaluate(() => document.querySelectorAll('img, svg, iframe, [onerror], [onload]').length), 0);
    check(`${view}: there is one program`, await opened.page.evaluate(() => document.querySelectorAll('script').length), 2);
    await finish(opened, `hostile ${view}`);
  }
  const opened = await open(browser, path, 'view=functions');
  const names = (await tableRows(opened.page)).map((row) => row.name);
  check('hostile names are shown as text', names.includes('<img src=x onerror=alert(1)>') && names.includes('__proto__'));
  check('marks of direction are written out', names.some((name) => name.includes('\\u{202e}')));
  await finish(opened, 'hostile names');
}

/** Threads that wait: a click and keys lead to who ended a wait; a range counts; nothing is cut off in a phone's window. */
async function checkLanes(browser) {
  execFileSync('python3', ['-B', '-c', `import sys; sys.path.insert(0, ${JSON.stringify(new URL('../support', import.meta.url).pathname)}); `
    + `import switch_capture; switch_capture.write_example(${JSON.stringify(file('waits.perf.data'))})`]);
  run('convert', file('waits.perf.data'), '-o', file('waits.spk'), '--force', '--quiet');
  run('export', file('waits.spk'), '--format', 'html', '-o', file('waits.html'), '--force', '--idle-pools');
  const opened = await open(browser, file('waits.html'), 'view=lanes');
  const { page } = opened;
  await settle(page);
  const details = () => page.$eval('.lane-details', (element) => (element.hidden ? '' : element.innerText));
  check('lanes: nothing is chosen', await details(), '');
  const colours = () => page.$eval('.lane-canvas', (canvas) => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size);
  check('lanes: several states are painted', (await colours()) > 5);
  await page.keyboard.press('5');
  await page.keyboard.press('ArrowDown');
  let woken = '';
  for (let row = 0; row < 6 && !woken; row++) {
    await page.keyboard.press('ArrowDown');
    for (let k = 0; k < 12; k++) await page.keyboard.press('ArrowLeft');
    for (let k = 0; k < 12 && !woken; k++) {
      await page.keyboard.press('ArrowRight');
      const text = await details();
      if (/ blocked /.test(text) && /Ended by\s+[^ai]/.test(text) && text.includes('Where the waker was')) woken = text;
    }
  }
  check('lanes: a wait has its callstack, its waker and where that was', ['Where it waited', 'Where the waker was', 'Ended by'].every((part) => woken.includes(part)));
  check('lanes: a choice stands in the link', await linkHas(page, 'interval='));
  await page.keyboard.press('w');
  await settle(page);
  const name = await page.evaluate((text) => /Ended by\s+(.*?)\n/.exec(text)?.[1].trim(), woken);
  check('lanes: w leads to the waker', name !== undefined && (await details()).includes(name));
  await page.keyboard.press('Enter');
  check('lanes: Enter zooms', await linkHas(page, 'span='));
  await page.keyboard.press('Home');
  check('lanes: Home shows all', await linkHas(page, 'span='), false);
  await page.evaluate(() => Array.from(document.querySelectorAll('.toolbar option')).filter((option) => option.textContent.startsWith('blocked')).forEach((option) => {
    option.parentElement.value = option.value;
    option.parentElement.dispatchEvent(new Event('change'));
  }));
  await settle(page);
  const told = JSON.parse(run('top', file('waits.spk'), '--event', 'blocked', '--json', '--frames', 'module', '--idle-pools'));
  const whole = await textOf(page, '.summary');
  const shown = Number(/^([\d.,]+) (ms|µs|s) of blocked/.exec(whole)?.[1].replaceAll(',', '')) * { s: 1e9, ms: 1e6, 'µs': 1e3 }[/^[\d.,]+ (\S+)/.exec(whole)[1]];
  const ns = told.weight ?? told.rows.reduce((sum, row) => sum + row.self, 0);
  check('lanes: time blocked is that of top', Math.abs(shown - ns) <= ns / 100);
  const box = await (await page.$('.lane-canvas')).boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const part = await textOf(page, '.summary');
  check('lanes: a dragged range counts', part !== whole && part.includes('selected'));
  await new Promise((done) => { setTimeout(done, 400); });
  check('lanes: a table for screen readers', await page.$eval('.lane-content table', (table) => table.rows.length > 3 && table.rows[1].cells.length === 7));
  await finish(opened, 'lanes');
  const phone = await open(browser, file('waits.html'), 'view=lanes&interval=3', { width: 390, height: 844 });
  await settle(phone.page);
  check('lanes: cut off at 390 pixels', await cutOff(phone.page), []);
  check('lanes: nothing beyond a narrow window', await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  check('axe: lanes, narrow', await axeFindings(phone.page), []);
  await finish(phone, 'lanes on a phone');
  for (const theme of ['light', 'dark']) {
    const again = await open(browser, file('waits.html'), `view=lanes&interval=3&theme=${theme}`);
    await settle(again.page);
    check(`axe: lanes, ${theme}`, await axeFindings(again.page), []);
    await finish(again, `lanes, ${theme}`);
  }
}

/** A pprof profile of two functions with lines: `main` at main.c:3 calls `parse` at parse.c:5 and 12. */
function profileWithLines() {
  const number = (value) => (value > 127 ? [value & 127 | 128, ...number(value >> 7)] : [value]);
  const field = (key, value) => (typeof value === 'number' ? [...number(key << 3), ...number(value)]
    : [...number(key << 3 | 2), ...number(value.length), ...value]);
  const texts = ['', 'samples', 'count', 'parse', 'parse.c', 'main', 'main.c'];
  const bytes = field(1, [...field(1, 1), ...field(2, 2)]);
  for (const [stack, count] of [[[1, 3], 5], [[2, 3], 2], [[3], 1]]) {
    bytes.push(...field(2, [...stack.flatMap((place) => field(1, place)), ...field(2, count)]));
  }
  for (const [index, [fn, line]] of [[1, 5], [1, 12], [2, 3]].entries()) {
    bytes.push(...field(4, [...field(1, index + 1), ...field(4, [...field(1, fn), ...field(2, line)])]));
  }
  bytes.push(...field(5, [...field(1, 1), ...field(2, 3), ...field(4, 4)]), ...field(5, [...field(1, 2), ...field(2, 5), ...field(4, 6)]));
  for (const text of texts) bytes.push(...field(6, [...Buffer.from(text)]));
  return Buffer.from(bytes);
}

/** Source lines: those that samples are in and their neighbours, as they are in the file; none where no folder was given. */
async function checkSource(browser) {
  writeFileSync(file('lines.pprof'), profileWithLines());
  mkdirSync(file('sources'), { recursive: true });
  writeFileSync(file('sources/parse.c'), Array.from({ length: 14 }, (_, k) => (k === 4 ? '\tif (x < "<b>")' : `line ${k + 1}`)).join('\n'));
  run('convert', file('lines.pprof'), '-o', file('lines.spk'), '--force', '--quiet');
  run('export', file('lines.spk'), '--format', 'html', '--sources', file('sources'), '-o', file('source.html'), '--force');
  run('export', file('lines.spk'), '--format', 'html', '-o', file('no-source.html'), '--force');
  const opened = await open(browser, file('source.html'), '');
  await settle(opened.page);
  await opened.page.keyboard.press('7');
  check('source: its view stands in the link', await linkHas(opened.page, 'view=source'));
  check('source: a table a function and file', await opened.page.$$eval('.of-source caption', (all) => all.map((one) => one.textContent)), ['parse – parse.c']);
  const rows = await opened.page.$$eval('.of-source tbody tr', (all) => all.map((row) => Array.from(row.cells, (cell) => cell.textContent)));
  check('source: lines with samples, and two around each', rows.map((row) => row[2]), ['3', '4', '5', '6', '7', '10', '11', '12', '13', '14']);
  check('source: figures and text of a line', [rows[2], rows[3], rows[7]],
    [['5 62.50 %', '5 62.50 %', '5', '\tif (x < "<b>")'], ['', '', '6', 'line 6'], ['2 25.00 %', '2 25.00 %', '12', 'line 12']]);
  await finish(opened, 'source');
  for (const [theme, width] of [['light', 1200], ['dark', 390]]) {
    const again = await open(browser, file('source.html'), `view=source&theme=${theme}`, { width, height: 844 });
    await settle(again.page);
    check(`axe: source, ${theme}`, await axeFindings(again.page), []);
    check(`source: nothing beyond a window of ${width}`, await again.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await finish(again, `source, ${theme}`);
  }
  const without = await open(browser, file('no-source.html'), 'view=source');
  await settle(without.page);
  check('source: no view without sources', await without.page.$eval('#tab-source', (tab) => tab.hidden));
  await finish(without, 'no source');
}

/** Tables of events: the figures of gc, sorted by a click and by the keyboard; none where a capture has no such events. */
async function checkEvents(browser) {
  const capture = new URL('../../testdata/small.nettrace', import.meta.url).pathname;
  run('convert', capture, '-o', file('dotnet.spk'), '--force', '--quiet');
  run('export', file('dotnet.spk'), '--format', 'html', '-o', file('dotnet.html'), '--force');
  const opened = await open(browser, file('dotnet.html'), '');
  const { page } = opened;
  await settle(page);
  await page.keyboard.press('6');
  check('events: their view stands in the link', await linkHas(page, 'view=events'));
  const titles = await page.$$eval('.event-table caption', (captions) => captions.map((caption) => caption.textContent));
  check('events: collections, allocations and exceptions have tables', ['Garbage collection', 'Allocations by type', 'Exceptions'].every((title) => titles.includes(title)));
  const rowsOf = (title) => page.$$eval('.event-table', (tables, wanted) => {
    const table = tables.find((element) => element.querySelector('caption').textContent === wanted);
    return Array.from(table.querySelectorAll('tbody tr'), (row) => Array.from(row.cells, (cell) => cell.textContent));
  }, title);
  const told = JSON.parse(run('exceptions', file('dotnet.spk'), '--json'));
  const exceptions = told.exceptions.map((row) => [String(row.count), row.type, row.message, row.function]);
  check('events: exceptions are those of the command', await rowsOf('Exceptions'), exceptions);
  const types = JSON.parse(run('gc', file('dotnet.spk'), '--json')).allocations_by_type.map((row) => row.name);
  check('events: types are those of gc', (await rowsOf('Allocations by type')).map((row) => row[2]), types);
  const head = await page.evaluateHandle(() => Array.from(document.querySelectorAll('.event-table')).find((element) => element.querySelector('caption').textContent === 'Allocations by type').querySelectorAll('th button')[2]);
  await head.click();
  check('events: a click sorts', (await rowsOf('Allocations by type')).map((row) => row[2]), types.slice().sort());
  await page.keyboard.press('Enter');
  check('events: Enter turns the order around', (await rowsOf('Allocations by type')).map((row) => row[2]), types.slice().sort().reverse());
  await finish(opened, 'events');
  for (const [theme, width] of [['light', 1200], ['dark', 390]]) {
    const again = await open(browser, file('dotnet.html'), `view=events&theme=${theme}`, { width, height: 844 });
    await settle(again.page);
    check(`axe: events, ${theme}`, await axeFindings(again.page), []);
    check(`events: nothing beyond a window of ${width}`, await again.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await finish(again, `events, ${theme}`);
  }
  run('export', new URL('../../testdata/tiny.perf.data', import.meta.url).pathname, '--format', 'html', '-o', file('plain.html'), '--force');
  const plain = await open(browser, file('plain.html'), '');
  await settle(plain.page);
  check('events: no view without them', await plain.page.$eval('#tab-events', (tab) => tab.hidden));
  await plain.page.keyboard.press('6');
  check('events: no key without them', await linkHas(plain.page, 'view=events'), false);
  await finish(plain, 'no events');
}

/** A page of two sides: the figures of each are those of its capture, and the verdicts those of diff. */
async function checkSides(browser) {
  writeFileSync(file('old.folded'), 'main;parse 400\nmain;print 600\nmain;gone 90\n');
  writeFileSync(file('new.folded'), 'main;parse 700\nmain;print 300\nmain;<b>born 80\n');
  for (const side of ['old', 'new']) run('convert', file(`${side}.folded`), '-o', file(`${side}.spk`), '--force', '--quiet');
  const sides = [file('old.spk'), '--against', file('new.spk')];
  run('diff', ...sides, '--html', '-o', file('sides.html'), '--force');
  const told = JSON.parse(run('diff', ...sides, '--json'));
  const rows = (told.rows ?? told.events[0].rows).map((row) => [row.name, row.total.verdict]);
  for (const [side, name] of [[0, 'old'], [1, 'new']]) {
    const opened = await open(browser, file('sides.html'), `view=functions&side=${side}`);
    const expected = JSON.parse(run('top', file(`${name}.spk`), '--json', '-n', '1000')).rows.map((row) => rowKey(row));
    const shown = await tableRows(opened.page);
    check(`side ${name}`, shown.filter((row) => row.total > 0).map(rowKey).sort(), expected.sort());
    const verdicts = await opened.page.$$eval('#panel-functions tbody tr[data-fn]', (lines) => lines.map((line) => [line.querySelector('button').textContent, line.querySelector('.verdict').textContent.split(';')[0]]));
    for (const [fn, verdict] of verdicts) check(`verdict of ${fn}`, verdict, rows.find((row) => row[0] === fn)?.[1] ?? '');
    check('a comparison names its files', await textOf(opened.page, 'h1'), 'old.spk against new.spk');
    await finish(opened, `side ${name}`);
  }
  await checkPhone(browser, file('sides.html'), 'sides');
  await checkAccess(browser, file('sides.html'), 'sides');
}

async function checkSaved(browser, path) {
  if (kind !== 'chrome') return;
  const opened = await open(browser, path, 'search=img');
  const folder = file('saved');
  mkdirSync(folder, { recursive: true });
  const session = await opened.page.createCDPSession();
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  for (const text of ['SVG', 'PNG']) {
    await opened.page.evaluate((name) => {
      Array.from(document.querySelectorAll('.toolbar button')).find((button) => button.textContent === name).click();
    }, text);
  }
  for (let k = 0; k < 50 && readdirSync(folder).filter((name) => /\.(svg|png)$/.test(name)).length < 2; k++) {
    await new Promise((done) => { setTimeout(done, 100); });
  }
  const saved = readdirSync(folder).sort();
  check('pictures are saved', saved.map((name) => name.slice(-4)), ['.png', '.svg']);
  if (saved.length === 2) {
    const svg = readFileSync(join(folder, saved[1]), 'utf8');
    check('the SVG has boxes', svg.includes('<rect') && svg.includes('&lt;img src=x onerror=alert(1)&gt;') && !svg.includes('<img'));
    check('the PNG is one', readFileSync(join(folder, saved[0])).subarray(1, 4).toString(), 'PNG');
  }
  await finish(opened, 'pictures');
}

async function checkEmpty(browser, path) {
  for (const view of VIEWS) {
    const opened = await open(browser, path, `view=${view}`);
    check(`empty ${view} says so`, await opened.page.$$eval('.empty', (lines) => lines.some((line) => !line.hidden && line.offsetParent !== null && line.textContent.length > 5)));
    await finish(opened, `empty ${view}`);
  }
}

/** A path that is longer than the window does not move the graph, in a browser with scroll bars that take room. */
async function checkPath() {
  if (kind !== 'chrome') return;
  writeFileSync(file('deep.folded'), `${Array.from({ length: 14 }, (_, k) => `function_number_${k}`).join(';')} 9\n`);
  const path = makePage('deep', file('deep.folded'));
  const browser = await puppeteer.launch({ executablePath: program, headless: true, ignoreDefaultArgs: ['--hide-scrollbars'], args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const opened = await open(browser, path, '', { width: 390, height: 844 });
    const { page } = opened;
    const top = () => page.$eval('#panel-flame canvas', (canvas) => canvas.getBoundingClientRect().top);
    const before = await top();
    await page.keyboard.press('1');
    for (let k = 0; k < 12; k++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await settle(page);
    const steps = await page.$$eval('.path-bar li', (all) => all.map((step) => [step.textContent, step.getBoundingClientRect().right <= innerWidth]));
    check('a path that is too long for the window says how much is left out', steps.some(([text]) => /^… \d+ more …$/.test(text)));
    check('a path has both ends', [steps[0][0], steps.at(-1)[0], steps.every(([, inside]) => inside)], ['all', 'function_number_11', true]);
    check('a path does not move the graph', await top(), before);
    await finish(opened, 'path');
  } finally {
    await browser.close();
  }
}

async function main() {
  mkdirSync(scratch, { recursive: true });
  const capture = makePage('capture', join(testdata, 'file.perf.data'));
  writeFileSync(file('hostile.folded'), HOSTILE.map((name, k) => `main;${name};leaf ${k + 5}\n`).join('') + HOSTILE.join(';') + ' 9\n');
  const hostile = makePage('hostile', file('hostile.folded'));
  writeFileSync(file('empty.folded'), 'nothing 0\n');
  const browser = await puppeteer.launch({
    browser: kind, executablePath: program, headless: true, args: kind === 'chrome' ? ['--no-sandbox', '--disable-gpu'] : [],
  });
  try {
    await checkTotals(browser, capture, file('capture.spk'));
    await checkRows(browser);
    await checkThreadLanes(browser, capture);
    await checkManyThreads(browser);
    await checkChart(browser);
    await checkLabels(browser);
    await checkCommand(browser);
    await checkWords(browser, capture);
    await checkCallers(browser, capture, file('capture.spk'));
    await checkKeyboard(browser, capture);
    await checkMouse(browser, capture);
    await checkPath();
    await checkTimeline(browser, capture);
    await checkSandwichWheel(browser, hostile);
    await checkNarrow(browser, capture);
    await checkPhone(browser, capture, 'capture');
    await checkPhone(browser, hostile, 'hostile');
    await checkHostile(browser, hostile);
    await checkSaved(browser, hostile);
    await checkEmpty(browser, makePage('empty', file('empty.folded')));
    await checkLanes(browser);
    await checkEvents(browser);
    await checkSource(browser);
    await checkSides(browser);
    await checkAccess(browser, capture, 'capture');
    if (kind === 'chrome') await checkAccess(browser, hostile, 'hostile');
  } finally {
    await browser.close();
  }
  console.log(`${kind}: ${failures === 0 ? 'all as it should be' : `${failures} failures`}`);
  process.exit(failures === 0 ? 0 : 1);
}

await main();

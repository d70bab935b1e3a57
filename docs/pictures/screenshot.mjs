// A picture of a page: screenshot.mjs CHROMIUM PAGE OUT.png [FRAGMENT [WIDTH HEIGHT [FUNCTION]]], zoomed to a function on
// the heaviest path. STACKPACK_CLIENTS has puppeteer-core.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , chromium, page, out, fragment = '', width = '1200', height = '700', zoom = ''] = process.argv;
const require = createRequire(join(process.env.STACKPACK_CLIENTS ?? '.', 'package.json'));
const puppeteer = require('puppeteer-core');
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox', '--disable-gpu'] });
const tab = await browser.newPage();
await tab.setViewport({ width: Number(width), height: Number(height) });
await tab.goto(pathToFileURL(resolve(page)).href + (fragment ? '#' + fragment : ''));
await tab.waitForSelector('html[data-ready]');
if (zoom !== '') {
  const focused = () => tab.evaluate(() => document.getElementById(document.activeElement?.getAttribute('aria-activedescendant') ?? '')?.textContent ?? '');
  await tab.keyboard.press('1');
  for (let k = 0; k < 200 && !(await focused()).includes(zoom); k++) await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('Enter');
  await tab.evaluate(() => document.activeElement?.blur());
}
await tab.evaluate(() => new Promise((done) => { setTimeout(done, 300); }));
await tab.screenshot({ path: out });
await browser.close();

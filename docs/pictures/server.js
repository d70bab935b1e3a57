// What the picture of the README is a profile of: requests that parse, group, sort, render and compress.
const { createHash } = require('node:crypto');
const { deflateSync } = require('node:zlib');

class Parser {
  constructor(text) {
    this.text = text;
    this.place = 0;
  }
  value() {
    const c = this.text[this.place];
    if (c === '{') return this.object();
    if (c === '[') return this.array();
    return c === '"' ? this.string() : this.number();
  }
  object() {
    const object = {};
    this.place++;
    while (this.text[this.place] !== '}') {
      const key = this.string();
      this.place++;
      object[key] = this.value();
      if (this.text[this.place] === ',') this.place++;
    }
    this.place++;
    return object;
  }
  array() {
    const array = [];
    this.place++;
    while (this.text[this.place] !== ']') {
      array.push(this.value());
      if (this.text[this.place] === ',') this.place++;
    }
    this.place++;
    return array;
  }
  string() {
    let text = '';
    for (this.place++; this.text[this.place] !== '"'; this.place++) text += this.text[this.place];
    this.place++;
    return text;
  }
  number() {
    let text = '';
    for (; /[-0-9.e]/.test(this.text[this.place] ?? ''); this.place++) text += this.text[this.place];
    return Number(text);
  }
}

const makeItems = (count) => Array.from({ length: count },
  (_, k) => ({ id: k, name: 'item' + k, tags: ['a', 'b', String(k % 7)], weights: [k * 1.5, k / 3] }));

function groupByTag(items) {
  const groups = new Map();
  for (const item of items) {
    for (const tag of item.tags) groups.set(tag, [...(groups.get(tag) ?? []), item]);
  }
  return groups;
}
function sortItems(items) {
  return [...items].sort((a, b) => a.name.localeCompare(b.name) || a.id - b.id);
}
function render(groups) {
  let page = '';
  for (const [tag, items] of groups) {
    page += `<h1>${tag}</h1>`;
    for (const item of sortItems(items)) page += `<li>${item.name}</li>`;
  }
  return page;
}
function checksum(text) {
  return createHash('sha256').update(text).digest('hex');
}
function compress(text) {
  return deflateSync(text, { level: 6 });
}
function handleRequest(number) {
  const items = new Parser(JSON.stringify(makeItems(300 + (number % 50)))).value();
  const page = render(groupByTag(items));
  return checksum(page) + compress(page).length;
}

const end = Date.now() + 4000;
for (let number = 0; Date.now() < end; number++) handleRequest(number);

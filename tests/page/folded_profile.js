// Profiles for tests, made of folded text: "root;caller;leaf COUNT" a line.

/** A module and a mode in a name: "module!name", "name_[k]" is the kernel's, "name_[j]" is compiled at run time. */
function identityOf(text) {
  const mode = text.endsWith('_[k]') ? 1 : text.endsWith('_[j]') ? 2 : 0;
  const bare = mode ? text.slice(0, -4) : text;
  const cut = bare.indexOf('!');
  return cut > 0 ? { name: bare.slice(cut + 1), module: bare.slice(0, cut), mode } : { name: bare, module: '', mode };
}

class ProfileBuilder {
  constructor(sides) {
    this.sides = sides;
    this.functions = [];
    this.byText = new Map();
    this.modules = [];
    this.root = { fn: 0, children: new Map(), self: new Array(sides).fill(0) };
  }

  functionOf(text) {
    let fn = this.byText.get(text);
    if (fn === undefined) {
      fn = this.functions.length;
      this.byText.set(text, fn);
      const identity = identityOf(text);
      if (identity.module && !this.modules.includes(identity.module)) this.modules.push(identity.module);
      this.functions.push(identity);
    }
    return fn;
  }

  add(stack, count, side) {
    let node = this.root;
    for (const text of stack) {
      const fn = this.functionOf(text);
      let child = node.children.get(fn);
      if (!child) node.children.set(fn, child = { fn, children: new Map(), self: new Array(this.sides).fill(0) });
      node = child;
    }
    node.self[side] += count;
    return node;
  }

  tree() {
    const columns = { fn: [], parent: [], depth: [], end: [], self: Array.from({ length: this.sides }, () => []) };
    const open = [[this.root, 0, 0]];
    while (open.length > 0) {
      const [node, parent, depth] = open.pop();
      const index = columns.fn.length;
      node.index = index;
      columns.fn.push(node.fn);
      columns.parent.push(parent);
      columns.depth.push(depth);
      columns.end.push(index + 1);
      node.self.forEach((self, side) => columns.self[side].push(self));
      for (const child of Array.from(node.children.values()).reverse()) open.push([child, index, depth + 1]);
    }
    for (let i = columns.fn.length - 1; i > 0; i--) {
      columns.end[columns.parent[i]] = Math.max(columns.end[columns.parent[i]], columns.end[i]);
    }
    return columns;
  }
}

/**
 * @param {string} text folded callstacks
 * @param {string} [oldText] of the old side; then the sides are old and new
 * @returns {Profile}
 */
export function profileFromFolded(text, oldText) {
  const texts = oldText === undefined ? [text] : [oldText, text];
  const builder = new ProfileBuilder(texts.length);
  const rows = [];
  texts.forEach((side, k) => {
    for (const line of side.split('\n')) {
      const cut = line.lastIndexOf(' ');
      if (cut < 0) continue;
      rows.push({ node: builder.add(line.slice(0, cut).split(';'), Number(line.slice(cut + 1)), k), count: Number(line.slice(cut + 1)) });
    }
  });
  const columns = builder.tree();
  const total = columns.self.flat().reduce((sum, value) => sum + value, 0);
  return {
    title: 'folded', sides: texts.length > 1 ? ['old', 'new'] : [], files: [], facts: [], losses: [],
    measures: [{ name: 'samples', unit: 'samples', total: BigInt(total), totals: [BigInt(total)] }],
    tree: { count: columns.fn.length, fn: Uint32Array.from(columns.fn), parent: Uint32Array.from(columns.parent),
      end: Uint32Array.from(columns.end), depth: Uint16Array.from(columns.depth) },
    self: columns.self.map((side) => [Float64Array.from(side)]),
    exact: true, modules: builder.modules, functionCount: builder.functions.length,
    functionName: (fn) => builder.functions[fn].name,
    shortNames: (fn) => [builder.functions[fn].name],
    functionModule: Uint32Array.from(builder.functions, ({ module }) => (module ? builder.modules.indexOf(module) : 0xffffffff)),
    functionMode: Uint8Array.from(builder.functions, ({ mode }) => mode),
    functionNamed: Uint8Array.from(builder.functions, ({ name }) => (/(^0x|\+0x)[0-9a-f]+$/.test(name) ? 0 : 1)),
    threads: [], sampledThreads: 0, timeline: null, samples: null, labels: [], lanes: null, tables: [], diff: null, rows,
  };
}

/**
 * The same with times: line k is in bucket k % buckets and on thread k % threads.
 * @param {string} text
 * @param {number} buckets
 * @param {number} threads
 * @param {[string, string][][]} [labels] line k has set k % (labels.length + 1), where 0 is none
 * @returns {Profile}
 */
export function timedProfile(text, buckets, threads, labels = []) {
  const profile = profileFromFolded(text);
  const rows = profile.rows.map(({ node, count }, k) => ({ bucket: k % buckets, thread: k % threads, node: node.index, value: count, set: labels.length > 0 ? k % (labels.length + 1) : 0 }));
  rows.sort((a, b) => a.bucket - b.bucket || a.thread - b.thread || a.node - b.node);
  profile.threads = Array.from({ length: threads }, (_, k) => ({ pid: 100 + (k >> 1), tid: 1000 + k, process: `process ${k >> 1}`, thread: `thread ${k}` }));
  profile.timeline = {
    start: 0n, width: 1e6, buckets, resolution: '1 ms buckets; callstacks complete',
    bucket: Uint32Array.from(rows, (row) => row.bucket), thread: Uint32Array.from(rows, (row) => row.thread),
    node: Uint32Array.from(rows, (row) => row.node), measure: new Uint8Array(rows.length), value: Float64Array.from(rows, (row) => row.value),
    set: Uint32Array.from(labels.length > 0 ? rows : [], (row) => row.set),
  };
  profile.samples = profile.timeline;
  profile.labels = labels;
  return profile;
}

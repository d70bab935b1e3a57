// Reads the data of a page: docs/page-format.md says how it is laid out.
import {Findings} from './page_findings.js';
import {FunctionTable, NO_FUNCTION} from './function_names.js';
import {Lanes} from './lane_data.js';
import {PageCursor, numbersOf} from './page_bytes.js';

/**
 * @typedef {{name: string, unit: string, total: bigint, totals: bigint[]}} Measure
 * @typedef {{pid: number, tid: number, process: string, thread: string}} Thread
 * @typedef {{label: string, value: string}} Fact
 * @typedef {{name: string, count: bigint, text: string, remark: boolean}} Loss
 */

/**
 * Nodes depth-first, parents first; node 0 is the root, its own weight is that of samples without a
 * callstack. A subtree is [i, end[i]).
 * @typedef {object} Tree
 * @property {number} count
 * @property {Uint32Array} fn      of the root: NO_FUNCTION
 * @property {Uint32Array} parent
 * @property {Uint32Array} end
 * @property {Uint16Array | Uint32Array} depth   0 for the root
 * @property {boolean} ordered     siblings come by the weight of the first measure, the heaviest first
 */

/**
 * @typedef {object} Timeline
 * @property {bigint} start        ns of the capture's clock at which bucket 0 begins
 * @property {number} width        ns of a bucket
 * @property {number} buckets
 * @property {string} resolution   a sentence for people
 * @property {Uint32Array} bucket  rows come by bucket, thread, node, measure
 * @property {Uint32Array} thread
 * @property {Uint32Array} node    whose own weight this is; an ancestor where callstacks are cut
 * @property {Uint8Array} measure
 * @property {Float64Array} value
 * @property {Uint32Array} set     labels of the samples: 0 none, else a number of `labels` + 1, or the one after; empty where no sample has any
 */

/**
 * One figure of a comparison, as `diff --json` has it; bounds to four digits. Not finite: NaN.
 * @typedef {object} DiffFigure
 * @property {string} verdict
 * @property {number} old_share
 * @property {number} new_share
 * @property {number} low
 * @property {number} high
 * @property {number} least_visible
 */

/**
 * @typedef {{self: DiffFigure, total: DiffFigure}} Finding
 * @typedef {{by: string, unit: string, event: string, level: number, notes: string[], work: string, whole: DiffFigure | null,
 *   findingOf: (fn: number) => Finding | undefined}} Diff
 */

/**
 * @typedef {object} Profile
 * @property {string} title
 * @property {string[]} sides      [], or ["old", "new"]
 * @property {string[][]} files   names, by side
 * @property {Fact[]} facts
 * @property {Loss[]} losses
 * @property {Measure[]} measures  total: of all sides
 * @property {Tree} tree
 * @property {Float64Array[][]} self   self[side][measure][node]; one side when `sides` is empty
 * @property {boolean} exact       false: sums above 2^53 are rounded
 * @property {string[]} modules
 * @property {number} functionCount
 * @property {(fn: number) => string} functionName
 * @property {(fn: number) => string[]} shortNames  ever shorter forms of it
 * @property {Uint32Array} functionModule  NO_FUNCTION: none
 * @property {Uint8Array} functionMode     0 user, 1 kernel, 2 made at run time, 3 unknown, 4 inlined only
 * @property {Uint8Array} functionNamed   1: it has a name, 0: it is a place
 * @property {Thread[]} threads    pid and tid are -1 where they were not recorded
 * @property {number} sampledThreads  those after them have intervals alone
 * @property {Timeline | null} timeline
 * @property {Timeline | null} samples   the timeline's rows; or those of samples that have labels and no times
 * @property {[string, string][][]} labels   keys and values of each set
 * @property {LaneSource | null} lanes
 * @property {EventTable[]} tables   of the values of events, and of source lines
 * @property {Diff | null} diff
 */

const PAGE_MAGIC = [0x73, 0x70, 0x6b, 0x50, 1];  // "spkP", version
const PAGE_SECTION = {head: 0, functions: 1, names: 2, pops: 3, treeFunctions: 4, self: 5, time: 6, findings: 7, shortNames: 8, lanes: 9};

/**
 * @param {Uint8Array} bytes
 * @returns {Map<number, Uint8Array[]>} sections by their number, in the order in which they stand
 */
function sectionsOf(bytes) {
  const cursor = new PageCursor(bytes);
  if (PAGE_MAGIC.some((byte) => cursor.byte() !== byte)) {
    throw new Error('the data of this page are of another version');
  }
  /** @type {Map<number, Uint8Array[]>} */
  const sections = new Map();
  while (!cursor.done()) {
    const number = cursor.varint();
    const section = cursor.take(cursor.varint());
    const known = sections.get(number);
    if (known) {
      known.push(section);
    } else {
      sections.set(number, [section]);
    }
  }
  return sections;
}

/**
 * @param {number} count
 * @param {Uint8Array} popBytes
 * @param {Uint8Array} functionBytes
 * @returns {Tree}
 */
function treeOf(count, popBytes, functionBytes) {
  const pops = numbersOf(popBytes, count - 1);
  const functions = numbersOf(functionBytes, count - 1);
  const fn = new Uint32Array(count);
  const parent = new Uint32Array(count);
  const end = new Uint32Array(count);
  const depths = new Uint32Array(count);
  fn[0] = NO_FUNCTION;
  fn.set(functions, 1);
  let last = 0;
  let deepest = 0;
  for (let node = 1; node < count; ++node) {
    let up = last;
    for (let levels = pops[node - 1]; levels > 0; --levels) {
      if (up === 0) {
        throw new Error('the data of this page are damaged');
      }
      end[up] = node;
      up = parent[up];
    }
    parent[node] = up;
    const depth = depths[up] + 1;
    depths[node] = depth;
    deepest = depth > deepest ? depth : deepest;
    last = node;
  }
  for (let open = last; open !== 0; open = parent[open]) {
    end[open] = count;
  }
  end[0] = count;
  return {count, fn, parent, end, ordered: true, depth: deepest > 65535 ? depths : Uint16Array.from(depths)};
}

/**
 * @param {Tree} tree
 * @param {Uint8Array} bytes
 */
function selfOf(tree, bytes) {
  const cursor = new PageCursor(bytes);
  const values = new Float64Array(tree.count);
  const {count, end} = tree;
  for (let node = 0; node < count; ++node) {
    if (end[node] === node + 1) {
      values[node] = cursor.varint();
    }
  }
  let node = -1;
  while (!cursor.done()) {
    node += cursor.varint() + 1;
    if (node >= count) {
      throw new Error('the data of this page are damaged');
    }
    values[node] = cursor.varint();
  }
  return values;
}

/**
 * An array whose elements are decoded when they are first asked for: a capture may have many events,
 * of which a person looks at a few.
 * @param {Tree} tree
 * @param {Uint8Array[]} streams  by measure
 * @param {number} work  what weights are for: costs are for each unit of it
 * @returns {Float64Array[]}
 */
function weightsOnDemand(tree, streams, work) {
  /** @type {Float64Array[]} */
  const weights = new Array(streams.length);
  streams.forEach((stream, measure) => {
    Object.defineProperty(weights, measure, {
      configurable: true,
      enumerable: true,
      get() {
        const value = selfOf(tree, stream);
        if (work !== 1) value.forEach((weight, node) => { value[node] = weight / work; });
        Object.defineProperty(weights, measure, {value, enumerable: true, configurable: true, writable: true});
        return value;
      },
    });
  });
  return weights;
}

/**
 * What is known of a timeline at once; its rows, of which there may be half a million, are read when the first is asked for.
 * @param {any} head
 * @param {Uint8Array} bytes
 * @param {[number, number][] | undefined} tracks  thread and set of labels: what rows are of where samples have labels
 * @returns {Timeline}
 */
function timelineOf(head, bytes, tracks) {
  /** @type {ReturnType<typeof withTracks> | null} */
  let columns = null;
  const read = () => (columns ??= withTracks(timeColumns(head, bytes), tracks));
  return {start: BigInt(head.start), width: head.width, buckets: head.buckets, resolution: head.resolution,
    get bucket() { return read().bucket; },
    get thread() { return read().thread; },
    get node() { return read().node; },
    get measure() { return read().measure; },
    get value() { return read().value; },
    get set() { return read().set; }};
}

/**
 * @param {TimeColumns} columns
 * @param {[number, number][] | undefined} tracks
 * @returns {TimeColumns & {set: Uint32Array}}
 */
function withTracks(columns, tracks) {
  if (!tracks) return {...columns, set: new Uint32Array(0)};
  const {thread} = columns;
  return {...columns, thread: thread.map((track) => tracks[track][0]), set: thread.map((track) => tracks[track][1])};
}

/**
 * @typedef {{bucket: Uint32Array, thread: Uint32Array, node: Uint32Array, measure: Uint8Array, value: Float64Array}} TimeColumns
 *
 * @param {any} head
 * @param {Uint8Array} bytes
 * @returns {TimeColumns}
 */
function timeColumns(head, bytes) {
  const {rows, measures} = head;  // measures: by event, the numbers of its measures
  const cursor = new PageCursor(bytes);
  const columns = [];
  for (let column = 0; column < 4; ++column) {
    columns.push(numbersOf(cursor.take(cursor.varint()), rows));
  }
  const [buckets, threads, nodes, events] = columns;
  const values = new PageCursor(cursor.take(cursor.varint()));
  const bucket = new Uint32Array(head.values);
  const thread = new Uint32Array(head.values);
  const node = new Uint32Array(head.values);
  const measure = new Uint8Array(head.values);
  const value = new Float64Array(head.values);
  let nowBucket = 0;
  let nowThread = 0;
  let nowNode = 0;
  let at = 0;
  for (let row = 0; row < rows; ++row) {
    if (buckets[row] !== 0) {
      nowBucket += buckets[row];
      nowThread = threads[row];
      nowNode = nodes[row];
    } else if (threads[row] !== 0) {
      nowThread += threads[row];
      nowNode = nodes[row];
    } else {
      nowNode += nodes[row];
    }
    const numbers = measures[events[row]];
    for (let i = 0; i < numbers.length; ++i) {
      bucket[at] = nowBucket;
      thread[at] = nowThread;
      node[at] = nowNode;
      measure[at] = numbers[i];
      value[at] = values.varint();
      ++at;
    }
  }
  if (at !== head.values) {
    throw new Error('the data of this page are damaged');
  }
  return {bucket, thread, node, measure, value};
}

/**
 * @param {bigint} total
 * @param {number} work
 * @returns {bigint}
 */
function costOf(total, work) {
  return work === 1 ? total : BigInt(Math.round(Number(total) / work));
}

/**
 * @param {any[]} row
 * @returns {EventTable}
 */
function tableOf(row) {
  return {title: row[0], note: row[1], columns: row[2].map((/** @type {string[]} */ column) => ({name: column[0], unit: column[1]})), rows: row[3]};
}

/**
 * @param {string[]} texts
 * @returns {[string, string][]}
 */
function pairsOf(texts) {
  /** @type {[string, string][]} */
  const pairs = [];
  for (let k = 0; k + 1 < texts.length; k += 2) pairs.push([texts[k], texts[k + 1]]);
  return pairs;
}

/**
 * @param {any[]} row
 * @returns {Thread}
 */
function threadOf(row) {
  return {pid: row[0], tid: row[1], process: row[2], thread: row[3]};
}

/**
 * Decoded when they are asked for: after the first picture, unless it is one of them.
 * @param {any} head
 * @param {Uint8Array} bytes
 * @returns {LaneSource}
 */
function laneSource(head, bytes) {
  /** @type {Lanes | null} */
  let lanes = null;
  return {start: BigInt(head.start), tick: head.tick, ticks: Math.max(1, head.ticks), count: head.intervals, measures: head.measures,
    lanes: () => (lanes ??= new Lanes(head, bytes))};
}

/** Buckets in which a range is selected where there are intervals and no samples. */
const LANE_BUCKETS = 2000;

/**
 * @param {LaneSource} lanes
 * @returns {Timeline}
 */
function timelineOfLanes({start, tick, ticks}) {
  const width = Math.max(1, Math.ceil((ticks * tick) / LANE_BUCKETS));
  const none = new Uint32Array(0);
  return {start, width, buckets: Math.max(1, Math.ceil((ticks * tick) / width)), resolution: 'intervals', bucket: none, thread: none,
    node: none, measure: new Uint8Array(0), value: new Float64Array(0), set: none};
}

/**
 * @param {any} diff
 * @param {number} functions
 * @param {Uint8Array} bytes
 * @returns {Diff}
 */
function diffOf(diff, functions, bytes) {
  const findings = new Findings(diff.verdicts, diff.wholes, functions, bytes);
  return {by: diff.by, unit: diff.unit, event: diff.event, level: diff.level, notes: diff.notes, work: diff.work ?? '', whole: diff.whole ?? null,
    findingOf: (fn) => findings.of(fn)};
}

/**
 * @param {Uint8Array} bytes  the data, decompressed
 * @returns {Profile}
 */
export function decodeProfile(bytes) {
  const sections = sectionsOf(bytes);
  const nothing = new Uint8Array(0);
  /** @param {number} number */
  const section = (number) => sections.get(number)?.[0] ?? nothing;
  const head = JSON.parse(new TextDecoder('utf-8', {ignoreBOM: true}).decode(section(PAGE_SECTION.head)));
  const table = new FunctionTable(head.functions, head.modules, section(PAGE_SECTION.functions), section(PAGE_SECTION.names),
    section(PAGE_SECTION.shortNames));
  const tree = treeOf(head.nodes, section(PAGE_SECTION.pops), section(PAGE_SECTION.treeFunctions));
  const limit = 2n ** 53n;
  let exact = true;
  /** @type {number[]} units of work by side, where a comparison is of costs */
  const works = head.diff?.work ? head.diff.wholes : [1, 1];
  /** @type {Measure[]} */
  const measures = head.measures.map((/** @type {any} */ row) => {
    const totals = row.totals.map((/** @type {string} */ total, /** @type {number} */ side) => costOf(BigInt(total), works[side]));
    const total = totals.reduce((/** @type {bigint} */ a, /** @type {bigint} */ b) => a + b, 0n);
    exact = exact && total <= limit;
    return {name: row.name, unit: row.unit, total, totals};
  });
  const streams = sections.get(PAGE_SECTION.self) ?? [];
  /** @type {Float64Array[][]} */
  const self = [];
  for (let side = 0; side < Math.max(1, head.sides.length); ++side) {
    self.push(weightsOnDemand(tree, streams.slice(side * measures.length, (side + 1) * measures.length), works[side]));
  }
  const lanes = head.lanes ? laneSource(head.lanes, section(PAGE_SECTION.lanes)) : null;
  const intervalsOnly = lanes ? timelineOfLanes(lanes) : null;
  /** @type {Thread[]} */
  const threads = head.threads.map((/** @type {any[]} */ row) => threadOf(row));
  const sampledThreads = threads.length;
  for (const row of head.lanes?.threads ?? []) {
    // A thread without samples is one of the page's all the same.
    if (row[4] < 0) row[4] = threads.push(threadOf(row)) - 1;
  }
  const samples = head.timeline ? timelineOf(head.timeline, section(PAGE_SECTION.time), head.labels?.tracks) : intervalsOnly;
  return {
    title: head.title,
    sides: head.sides, files: head.files ?? [],
    facts: head.facts.map((/** @type {string[]} */ row) => ({label: row[0], value: row[1]})),
    losses: head.losses.map((/** @type {any[]} */ row) => ({name: row[0], count: BigInt(row[1]), text: row[2], remark: row[3]})),
    measures,
    tree, self, exact,
    modules: head.modules,
    functionCount: head.functions,
    functionName: (fn) => table.name(fn),
    shortNames: (fn) => table.shortNames(fn),
    functionModule: table.module,
    functionMode: table.mode,
    functionNamed: table.named,
    threads,
    sampledThreads,
    timeline: head.timeline?.timed === false ? intervalsOnly : samples,
    samples,
    labels: (head.labels?.sets ?? []).map(pairsOf),
    lanes,
    tables: head.tables.map(tableOf),
    diff: head.diff ? diffOf(head.diff, head.functions, section(PAGE_SECTION.findings)) : null,
  };
}

/**
 * The data that the page carries, decompressed.
 * @param {Document} page
 * @returns {Promise<Uint8Array>}
 */
export async function embeddedBytes(page) {
  const text = page.getElementById('profile')?.textContent ?? '';
  const packed = bytesOfBase64(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {string} text */
function bytesOfBase64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; ++i) {
    bytes[i] = characters.charCodeAt(i);
  }
  return bytes;
}

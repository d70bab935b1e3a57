// What the modules of the page hand to each other. Global, so that JSDoc names them without imports;
// nothing of this file is in a page. docs/page-format.md says how a Profile is stored.

/** One thing that was counted. The total is of all sides' samples and may pass 2^53. */
interface Measure {
  name: string;
  /** Of each side. */
  totals: bigint[];
  /** 'samples', 'ns', 'bytes', 'events', ... */
  unit: string;
  total: bigint;
}
interface Thread {
  pid: number;
  tid: number;
  process: string;
  thread: string;
}
/** A thread that has intervals. */
interface LaneThread extends Thread {
  /** Index of threads, -1: it has no samples. */
  row: number;
  /** Left out of sums. */
  waitsForWork: boolean;
}
/** Who ended a block: kind 1 a thread, 2 an interrupt, 3 a deferred procedure call. lane, node: -1 for none. */
interface Waker {
  kind: number;
  tid: number;
  lane: number;
  node: number;
}
interface Fact {
  label: string;
  value: string;
}
/** What the values of events say, added up, or source lines. Cells are texts, or numbers in decimal; null: not known. */
interface EventTable {
  title: string;
  /** What is left out, or ''. */
  note: string;
  /** Units: '' for texts, 'code' for lines of source, 'count', 'bytes', 'ns'. */
  columns: { name: string; unit: string }[];
  rows: (string | null)[][];
}
/** Something that is missing from the capture, or may be. */
interface Loss {
  name: string;
  count: bigint;
  text: string;
  /** It takes nothing away. */
  remark: boolean;
}
/** Nodes depth first, parents first. Node 0 is the root; the subtree of node i is [i, end[i]). */
interface Tree {
  count: number;
  fn: Uint32Array;
  parent: Uint32Array;
  end: Uint32Array;
  depth: Uint16Array | Uint32Array;
  /** Whether siblings come by the weight of the first measure, the heaviest first. */
  ordered?: boolean;
}
/** Rows sorted by bucket, thread and node; each is some self weight of a node. */
interface Timeline {
  start: bigint;
  /** Nanoseconds of a bucket. */
  width: number;
  buckets: number;
  /** A sentence for people. */
  resolution: string;
  bucket: Uint32Array;
  thread: Uint32Array;
  node: Uint32Array;
  measure: Uint8Array;
  value: Float64Array;
  /** Labels of the samples: 0 none, else a set of Profile.labels + 1, or the one after; empty where no sample has any. */
  set: Uint32Array;
}
/** What `diff --json` says of a function's own or total samples, to four digits. Shares and differences are fractions; of costs they are amounts. */
interface DiffFigure {
  verdict: string;
  old_share: number;
  new_share: number;
  low: number;
  high: number;
  least_visible: number;
}
interface Finding {
  self: DiffFigure;
  total: DiffFigure;
}
/** The comparison, of one event. */
interface Diff {
  /** What costs are for each of, '' where shares are compared. Weights of the page are costs then. */
  work: string;
  /** The cost of everything; null of shares. */
  whole: DiffFigure | null;
  by: string;
  unit: string;
  event: string;
  notes: string[];
  /** Undefined for a function that was not compared. */
  findingOf: (fn: number) => Finding | undefined;
}
/** Intervals, and the measures that are time in them. */
interface LaneSource {
  /** Of the capture's clock, in ticks of so many ns. */
  start: bigint;
  tick: number;
  ticks: number;
  count: number;
  /** Measures of the states blocked, woken, preempted; -1 for none. */
  measures: number[];
  lanes: () => import('./lane_data.js').Lanes;
}
interface Profile {
  title: string;
  /** [] or ['old', 'new'] */
  sides: string[];
  /** Names of the files of each side; none where they are not known. */
  files: string[][];
  facts: Fact[];
  losses: Loss[];
  measures: Measure[];
  tree: Tree;
  /** self[side][measure][node] */
  self: Float64Array[][];
  /** False when a sum may have passed 2^53 and is rounded. */
  exact: boolean;
  modules: string[];
  functionCount: number;
  functionName: (fn: number) => string;
  /** Ever shorter forms of a name, the one for rows first. */
  shortNames: (fn: number) => string[];
  /** Index into modules; NO_FUNCTION: none. */
  functionModule: Uint32Array;
  /** 0 user, 1 kernel, 2 run-time compiled, 3 unknown, 4 inlined */
  functionMode: Uint8Array;
  /** 1: it has a name; 0: it is a place in a module. */
  functionNamed: Uint8Array;
  /** Which function of unnamed_code.js rows of tables count it under. */
  rowOf?: Uint32Array;
  threads: Thread[];
  /** Those after them have intervals alone. */
  sampledThreads: number;
  timeline: Timeline | null;
  /** The rows of the timeline; or those of samples that have labels and no times, in one bucket. */
  samples: Timeline | null;
  /** Sets of labels: keys and values. */
  labels: [string, string][][];
  /** What threads do when they do not run; decoded when it is asked for. */
  lanes: LaneSource | null;
  tables: EventTable[];
  diff: Diff | null;
}

/**
 * A tree as it is drawn. Node i lies in [left[i], left[i] + total[i]) of the weight of the root; a node's
 * own weight comes first, its children after it. Positions do not depend on what was left out.
 */
interface ViewTree {
  count: number;
  fn: Uint32Array;
  parent: Uint32Array;
  end: Uint32Array;
  depth: Uint16Array | Uint32Array;
  left: Float64Array;
  total: Float64Array;
  /** Totals of the old side of a differential, or null. */
  old: Float64Array | null;
  /** Weights of the whole profile that shares refer to: [shown side, other side]. */
  whole: [number, number];
  /** The function that the root stands for, or NO_FUNCTION: everything. */
  rootFn: number;
  /** Whether siblings come by weight, the heaviest first. */
  heaviestFirst?: boolean;
  /** Where nodes were left out: what lies below each node, with them. */
  below?: Float64Array;
  /** Subtrees of the root lie one below the other, and not side by side. */
  bands?: boolean;
  /** Of its weights, where they are no measure's. */
  unit?: string;
  /** True when nodes too narrow to be seen were left out; zooming builds them. */
  pruned: boolean;
}

/** Weights of the samples that the time range and the chosen threads leave. */
interface Weights {
  /** Own weight by node: of the shown side. */
  self: Float64Array;
  /** Of the other side of a differential, or null. */
  oldSelf: Float64Array | null;
}
/** Self and total of each function; a sample counts once however often a function recurs in it. */
interface FunctionFigures {
  self: Float64Array;
  total: Float64Array;
  oldSelf: Float64Array | null;
  oldTotal: Float64Array | null;
  whole: [number, number];
}
/** Functions that a search found. */
interface SearchResult {
  /** 1 for each function found; null: nothing is searched for. */
  mask: Uint8Array | null;
  functions: number;
  /** What is wrong with the expression, or ''. */
  error: string;
}
/** All that a link to a view holds. */
interface ViewState {
  view: 'flame' | 'sandwich' | 'functions' | 'timeline' | 'lanes' | 'events' | 'source' | 'chart';
  /** Root at the bottom (flame graph) or at the top (icicle). */
  direction: 'up' | 'down';
  inverted: boolean;
  merged: boolean;
  /** What stands between the root and the callstacks of the flame graph. */
  root: 'none' | 'process' | 'thread';
  colour: 'module' | 'function' | 'mode' | 'change';
  measure: number;
  side: number;
  query: string;
  regex: boolean;
  /** Functions from the root to the node zoomed to. */
  zoom: number[];
  /** Part of the root's width that is shown, as fractions, when it is not that of a node. */
  window: [number, number] | null;
  /** The function in the middle of callers and callees, or -1. */
  fn: number;
  /** Buckets of the timeline, both included; null: all. */
  range: [number, number] | null;
  /** Indices of threads; null: all. */
  threads: number[] | null;
  /** KEY=VALUE that samples are labelled with, or ''. */
  label: string;
  /** Ticks between which lanes are shown; null: all. */
  span: [number, number] | null;
  /** The interval that is chosen, or -1. */
  interval: number;
  sort: 'name' | 'module' | 'self' | 'total' | 'change' | 'change-self' | 'verdict';
  ascending: boolean;
  theme: 'auto' | 'light' | 'dark';
}

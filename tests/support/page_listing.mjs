// What decode.js makes of a page, as JSON: to be compared with tests/support/read_page.py.
// Usage: node page_listing.mjs DECODER PAGE
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {gunzipSync} from 'node:zlib';

const {decodeProfile} = await import(pathToFileURL(process.argv[2]).href);
const html = readFileSync(process.argv[3], 'latin1');
const data = html.match(/id="profile">([^<]*)</)[1];
const profile = decodeProfile(new Uint8Array(gunzipSync(Buffer.from(data, 'base64'))));
const functions = [];
for (let fn = 0; fn < profile.functionCount; ++fn) {
  const module = profile.functionModule[fn];
  functions.push([profile.functionName(fn), profile.modules[module] ?? '', profile.functionMode[fn]]);
}
const time = profile.samples;
console.log(JSON.stringify({
  functions,
  parents: [...profile.tree.parent],
  fn: [...profile.tree.fn],
  end: [...profile.tree.end],
  depth: [...profile.tree.depth],
  self: profile.self.map((side) => profile.measures.map((_, i) => [...side[i]])),
  totals: profile.measures.map((measure) => String(measure.total)),
  exact: profile.exact,
  threads: profile.threads,
  losses: profile.losses.map((loss) => [loss.name, String(loss.count)]),
  time: time && [...time.bucket].map((bucket, i) => [bucket, time.thread[i], time.node[i], time.measure[i], time.value[i]]),
  sets: time && [...time.set],
  labels: profile.labels,
}));

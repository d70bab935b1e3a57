// Loads the tables of `stackpack export --to csv` into DuckDB and climbs from samples to the root.
// Usage: node duckdb_check.mjs DIRECTORY; the package @duckdb/node-api must be in NODE_PATH's reach.
// Prints one line of JSON: samples, distinct stacks, the deepest stack, the hottest leaf.
import { createRequire } from 'node:module';
const require = createRequire((process.env.STACKPACK_CLIENTS ?? process.cwd()) + '/package.json');
const { DuckDBInstance } = require('@duckdb/node-api');
const directory = process.argv[2].replaceAll("'", "''");

const instance = await DuckDBInstance.create(':memory:');
const db = await instance.connect();
for (const table of ['stacks', 'samples', 'modules', 'processes', 'threads', 'events']) {
  await db.run(`CREATE TABLE ${table} AS SELECT * FROM read_csv('${directory}/${table}.csv', header = true,
      all_varchar = true, delim = ',', quote = '"', escape = '"')`);
}
await db.run(`CREATE TABLE node AS
    SELECT id::UINTEGER id, parent::UINTEGER parent, frame, address::UBIGINT address FROM stacks`);
// From every node where a sample ends up to the root: each step is a frame of that sample's callstack.
await db.run(`CREATE TABLE climb AS
    WITH RECURSIVE path(leaf, id, depth) AS (
      SELECT DISTINCT stack::UINTEGER, stack::UINTEGER, 1 FROM samples WHERE stack IS NOT NULL
      UNION ALL
      SELECT path.leaf, node.parent, path.depth + 1 FROM path JOIN node ON node.id = path.id
      WHERE node.parent IS NOT NULL)
    SELECT * FROM path`);
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();
const one = async (sql) => (await rows(sql))[0];
const result = {
  samples: Number((await one('SELECT count(*) n FROM samples')).n),
  stacks: Number((await one('SELECT count(DISTINCT stack) n FROM samples')).n),
  deepest: Number((await one('SELECT max(depth) n FROM climb')).n),
  frames_of_samples: Number((await one(`SELECT sum(depth) n FROM
      (SELECT leaf, max(depth) depth FROM climb GROUP BY leaf) JOIN samples ON stack::UINTEGER = leaf`)).n),
  hottest: await one(`SELECT node.frame, count(*)::INTEGER samples FROM samples
      JOIN node ON node.id = stack::UINTEGER GROUP BY node.frame ORDER BY 2 DESC, 1 LIMIT 1`),
  // The hottest leaf's module: a join on process, time and address.
  module: await one(`WITH hit AS (SELECT m.path, count(*) n FROM samples s
      JOIN node ON node.id = s.stack::UINTEGER
      JOIN modules m ON (m.pid = s.pid OR m.pid IS NULL)
        AND node.address >= m.base::UBIGINT AND node.address - m.base::UBIGINT < m.size::UBIGINT
        AND coalesce(m.start_ns::UBIGINT, 0) <= s.time_ns::UBIGINT
        AND s.time_ns::UBIGINT <= coalesce(m.end_ns::UBIGINT, 18446744073709551615)
      GROUP BY 1) SELECT path, n::INTEGER samples FROM hit ORDER BY n DESC, path LIMIT 1`),
};
console.log(JSON.stringify(result));

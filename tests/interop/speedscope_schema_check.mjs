// Validates a file against the schema which the npm package `speedscope` ships.
// Usage: node speedscope_schema_check.mjs FILE. Prints profiles, samples with a callstack, weights.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
const clients = process.env.STACKPACK_CLIENTS ?? process.cwd();
const require = createRequire(clients + '/package.json');
const Ajv = require('ajv');
const schema = JSON.parse(
  readFileSync(clients + '/node_modules/speedscope/dist/release/file-format-schema.json', 'utf8'));
const validate = new Ajv({ strict: false }).compile(schema);
const file = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (!validate(file)) {
  console.error(JSON.stringify(validate.errors.slice(0, 3)));
  process.exit(1);
}
let samples = 0;
let weight = 0;
for (const profile of file.profiles) {
  samples += profile.samples.length;
  weight += profile.weights.reduce((sum, value) => sum + value, 0);
}
console.log(JSON.stringify({ profiles: file.profiles.length, samples, weight }));

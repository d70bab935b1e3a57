// Keeps a processor busy and memory in use for testdata/foreign: node --cpu-prof --heap-prof profiled.js
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function grow(list, count) {
  for (let i = 0; i < count; i++) list.push({ i, text: `${i}`.repeat(i % 50) });
  return list;
}
const kept = [];
for (const end = Date.now() + 1000; Date.now() < end; fib(20)) {
  if (kept.length < 20) kept.push(grow([], 2000));
}

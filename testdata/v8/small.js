// Runs for a moment: functions of one name or none on one line, a package, allocations that stay.
const { spin } = require('./node_modules/@small/spin/index.js');
const kept = [];
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const work = [() => fib(20), () => spin(20000), () => { for (let i = 0; i < 50; i++) kept.push(new Array(200).fill(i)); }];
const end = Date.now() + 60;
while (Date.now() < end) work.forEach((each) => each());
setTimeout(() => fib(21), 15);

#!/bin/bash
# Records node.cpuprofile and node.heapprofile anew, under /tmp/stackpack, and, where chromium is,
# a trace of it. Needs node 12 or later.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rm -rf /tmp/stackpack && mkdir -p /tmp/stackpack/node_modules/@small/spin && cd /tmp/stackpack
cp "$here/small.js" .
echo 'exports.spin = function (n) { let sum = 0; for (let i = 0; i < n; i++) sum += Math.sqrt(i); return sum; };' \
  > node_modules/@small/spin/index.js
node --cpu-prof --cpu-prof-interval 1000 --cpu-prof-name node.cpuprofile small.js
node --heap-prof --heap-prof-interval 32768 --heap-prof-name node.heapprofile small.js
cp node.cpuprofile node.heapprofile "$here/"
if command -v chromium > /dev/null; then
  echo "<script>const module = {}; function require() { return { spin: (n) => n }; } $(cat small.js)</script>" > small.html
  chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/stackpack/chromium \
    --trace-startup='disabled-by-default-v8.cpu_profiler,__metadata' --trace-startup-duration=2 --trace-startup-format=json \
    --trace-startup-file=/tmp/stackpack/chromium.json --virtual-time-budget=3000 --dump-dom file:///tmp/stackpack/small.html > /dev/null
  gzip -9 -n -c chromium.json > "$here/chromium.trace.json.gz"
fi
chmod 644 "$here"/node.* "$here"/*.gz

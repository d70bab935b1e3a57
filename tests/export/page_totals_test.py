#!/usr/bin/env python3
"""What a page shows is what stats, top, callers and callees count.

    page_totals_test.py PROGRAM SOURCE_DIR

Pages of captures of several kinds are read by a reader written after docs/page-format.md alone (tests/support/read_page.py)
and, where node is there, by the page's own decode.js, which has to give the same.
"""
import base64
import hashlib
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"
sys.path.insert(0, str(SUPPORT))
import read_page  # noqa: E402

problems = 0

# Names that are something to HTML, to JSON, to text or to a terminal; recursion; numbers beyond 2^53.
HOSTILE = b"".join([
    b"a;b;a;c 5\na;b 7\nb;b;b 18446744073709551\n",
    b"<img src=x onerror=alert(1)>;</script><script>alert(2)</script>;<!--;-->;</style>;]]> 3\n",
    b"\"quotes\" 'of all' `kinds` ${x};\\u0000\\n;&lt;&amp;;@DATA@;@PROGRAM@;__proto__;constructor 2\n",
    b"bytes \xff\xfe\xc0\x80;\xed\xa0\x80 surrogate;\xef\xbb\xbfmark;\xe2\x80\xae txet;\xe2\x80\xa8line;\x1b[31m;\x7f 4\n",
    b"long " + b"n" * 65536 + b" 1\n", b"long " + b"n" * 65535 + b"m 1\n", b"\xf0\x9f\x98\x80\xf0\x9f\x98\x81;\xf0\x9f\x98\x82 1\n",
    b";".join(b"deep%d" % (i % 7) for i in range(10000)) + b" 6\n"])


def check(what, found, expected):
    global problems
    if found != expected:
        problems += 1
        print(f"{what}: {str(found)[:300]} instead of {str(expected)[:300]}")


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def sums_of(page, measure=0):
    """(self, total) by (name, module); a function counts once in a callstack."""
    sums = {}
    for path, value in page.stacks(0, measure):
        for function in set(path):
            own, total = sums.get(function, (0, 0))
            sums[function] = (own + (value if path[-1] == function else 0), total + value)
    return sums


def neighbours_of(page, name, callers):
    """As `callers` or `callees` count: each neighbour once in a callstack."""
    rows = {}
    for path, value in page.stacks():
        around = set()
        for i, function in enumerate(path):
            if function[0] == name:
                end = i == 0 if callers else i + 1 == len(path)
                other = path[i - 1 if callers else i + 1] if not end else ("[root]" if callers else "[self]", "")
                around.add(other)
        for other in around:
            rows[other] = rows.get(other, 0) + value
    return rows


def check_policy(page):
    """The policy allows the script and the style that are there, and nothing of the data is HTML."""
    text = page.text.decode("utf-8")
    policy, = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    for kind, pattern in (("script", r'<script type="module">(.*?)</script>'), ("style", r"<style>(.*?)</style>")):
        source, = re.findall(pattern, text, re.S)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        check(f"{kind} of the policy", re.findall(rf"{kind}-src ([^;]*)", policy), [f"'sha256-{digest}'"])
    check("the policy's default", policy.startswith("default-src 'none';"), True)
    check("scripts", len(re.findall(r"<script", text)), 2)


def check_decoder(node, decoder, page, path):
    listing = json.loads(run(node, SUPPORT / "page_listing.mjs", decoder, path))
    check("functions of decode.js", [tuple(row) for row in listing["functions"]], page.functions)
    for name, values in (("parents", page.parents), ("fn", page.fn), ("end", page.end), ("time", page.time)):
        check(f"{name} of decode.js", listing[name], values)
    totals = [sum(int(total) for total in measure["totals"]) for measure in page.head["measures"]]
    check("totals of decode.js", [int(total) for total in listing["totals"]], totals)
    check("exact", listing["exact"], all(total <= 2**53 for total in totals))
    for found, values in zip(sum(listing["self"], []), sum(page.self, []), strict=True):
        if listing["exact"]:
            check("self of decode.js", found, values)
        else:  # numbers of JavaScript, rounded
            close = all(math.isclose(a, b, rel_tol=1e-15) for a, b in zip(found, values, strict=True))
            check("rounded self of decode.js", close, True)
    depths = [0] * len(page.parents)
    for i in range(1, len(depths)):
        depths[i] = depths[page.parents[i]] + 1
    check("depths", listing["depth"], depths)
    check("losses", listing["losses"], [row[:2] for row in page.head["losses"]])


def check_page(program, spk, path, filters, tools):
    # Other reports list the addresses of broken callstacks.
    run(program, "export", spk, "--format", "html", "-o", path, "--force", "-q", "--keep-broken", *filters)
    page = read_page.Page(path)
    check_policy(page)
    if tools:
        check_decoder(*tools, page, path)
    top = json.loads(run(program, "top", spk, "-n", 0, "--frames", "module", "--json", *filters))
    name = spk.name
    check(f"{name}: total", int(page.head["measures"][0]["totals"][0]), top["weight"])
    check(f"{name}: sum of all nodes", sum(page.self[0][0]), top["weight"])
    rows = {(row["name"], row.get("module", "")): (row["self"], row["total"]) for row in top["rows"]}
    check(f"{name}: rows of top", sums_of(page), rows)
    for row in sorted(top["rows"], key=lambda row: -row["total"])[:3] + top["rows"][-2:]:
        for kind in ("callers", "callees"):
            told = json.loads(run(program, kind, spk, row["name"], "-n", 0, "--frames", "module", "--json", *filters))
            check(f"{name}: {kind} of {row['name']}", neighbours_of(page, row["name"], kind == "callers"),
                  {(other["name"], other.get("module", "")): other["total"] for other in told["rows"]})
    if not filters:
        stats = json.loads(run(program, "stats", spk, "--json"))
        counted = [m for m in page.head["measures"] if m["unit"] == "samples"]
        if stats["source"]["kind"] in ("perf", "etl"):
            check(f"{name}: samples", sum(int(m["totals"][0]) for m in counted), stats["samples"]["total"])
        # What a format holds and no file keeps does not belong to the picture.
        told = {name: count for name, count in stats["losses"].items() if count and "_not_kept." not in name}
        shown = {row[0]: int(row[1]) for row in page.head["losses"]}
        check(f"{name}: losses", {name: shown.get(name) for name in told}, told)
    if page.time is not None:
        told, waits = page.head["timeline"]["measures"], (page.head["lanes"] or {"measures": []})["measures"]
        # The time that threads waited stands in the lanes: page_lanes_test.py compares it.
        check(f"{name}: measures over time", sorted(sum(told, []) + [i for i in waits if i >= 0]), list(range(len(page.head["measures"]))))
        for i, measure in enumerate(page.head["measures"]):
            if i in waits:
                continue
            check(f"{name}: {measure['name']} over time", sum(row[4] for row in page.time if row[3] == i), int(measure["totals"][0]))
        check(f"{name}: order of time", page.time, sorted(page.time))
    return page


def check_several(program, folder, files, tools):
    """A page of several files: the figures of `top FILE...`, and the losses of each."""
    path = folder / "several.html"
    run(program, "export", *files, "--to", "html", "-o", path, "-q", "--keep-broken")
    page = read_page.Page(path)
    check_policy(page)
    if tools:
        check_decoder(*tools, page, path)
    for i, measure in enumerate(page.head["measures"]):
        if measure["unit"] != "samples":
            continue
        rows, weight = {}, 0
        for spk in files:  # top leaves the choice of the event to each file
            counted = subprocess.run([program, "top", spk, "-n", "0", "--frames", "module", "--json", "--event", measure["name"],
                                      "--count", "samples"],
                                     capture_output=True, text=True)
            top = json.loads(counted.stdout) if counted.returncode == 0 else {"weight": 0, "rows": []}
            weight += top["weight"]
            for row in top["rows"]:
                own, total = rows.get((row["name"], row.get("module", "")), (0, 0))
                rows[row["name"], row.get("module", "")] = (own + row["self"], total + row["total"])
        check(f"several: total of {measure['name']}", int(measure["totals"][0]), weight)
        check(f"several: rows of {measure['name']}", {k: v for k, v in sums_of(page, i).items() if v[1]}, rows)
        if page.time is not None:
            check(f"several: {measure['name']} over time", sum(row[4] for row in page.time if row[3] == i), weight)
    for spk in files:
        stats = json.loads(run(program, "stats", spk, "--json"))
        shown = {row[0]: int(row[1]) for row in page.head["losses"] if row[2].startswith(spk.name + ": ")}
        for name, count in stats["losses"].items():
            if "_not_kept." in name:
                continue
            if count:
                check(f"several: {name} of {spk.name}", shown.get(name), count)
        check(f"several: facts of {spk.name}", sum(fact[0] == spk.name for fact in page.head["facts"]), 1)
    again = folder / "several_again.html"
    run(program, "export", *files, "--to", "html", "-o", again, "-q", "--keep-broken")
    check("several: the same bytes again", again.read_bytes() == page.text, True)
    return page


def check_sides(program, folder, before, after, options):
    """The findings of a page of two sides are those of `diff --json`, to four digits."""
    path = folder / "sides.html"
    words = [before, "--against", after, *options]
    run(program, "diff", *words, "--html", "-o", path)
    page = read_page.Page(path)
    told = json.loads(run(program, "diff", *words, "--json"))["events"][0]["rows"]
    path.unlink()

    def same(found, row):
        close = [math.isclose(a, row[key], rel_tol=6e-4, abs_tol=1e-60) if row[key] is not None else a is None
                 for a, key in zip(found[1:], ("old_share", "new_share", "low", "high", "least_visible"), strict=True)]
        return found[0] == row["verdict"] and all(close)

    rows = {(row["name"], row.get("module", "")): row for row in told}
    shown = {function[:2]: found for function, found in zip(page.functions, page.findings, strict=True) if found}
    check("sides: functions with a finding", set(shown), set(rows))
    wrong = [key for key, found in shown.items() if not all(same(found[i], rows[key][("self", "total")[i]]) for i in (0, 1))]
    check("sides: figures", wrong[:3], [])
    check("sides: values", [int(total) for total in page.head["measures"][0]["totals"]], [sum(values[0]) for values in page.self])
    check("sides: kinds of code", {mode for _, _, mode in page.functions} - {3} != set(), True)


def main():
    program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    node = shutil.which("node")
    tools = (node, source / "src/export/page/decode.js") if node else None
    data = source / "testdata"
    pages = 0
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        files = []
        captures = sorted(data.glob("*.perf.data")) + sorted(data.glob("*.etl"))[:4]
        for capture in captures:
            spk = folder / (capture.name + ".spk")
            if subprocess.run([program, "convert", capture, "-o", spk, "-q"], capture_output=True).returncode == 0:
                files.append(spk)
        check("captures", len(files) >= 3, True)
        counts = folder / "counts.spk"
        run(program, "convert", data / "file.perf.data", "--no-samples", "-o", counts, "-q")
        merged = folder / "merged.spk"
        run(program, "merge", data / "file.perf.data", data / "events.perf.data", "-o", merged, "-q")
        folded = folder / "folded.txt"
        folded.write_bytes(HOSTILE)
        imported = folder / "imported.spk"
        run(program, "convert", folded, "--format", "folded", "-o", imported, "-q")
        for spk in [*files, counts, merged, imported]:
            filters = [[]] if spk in (counts, imported) else [[], ["--to", "+100ms"]]
            for chosen in filters:
                page = check_page(program, spk, folder / "page.html", chosen, tools)
                pages += 1
            again = folder / "again.html"
            run(program, "export", spk, "--format", "html", "-o", again, "-q", "--keep-broken", *chosen)
            check(f"{spk.name}: the same bytes again", again.read_bytes() == page.text, True)
            again.unlink()
        timed = [spk for spk in files if "perf" in spk.name][:3]
        page = check_several(program, folder, timed, tools)
        check("several: a timeline", page.time is not None, True)
        check("several: threads have their files", all("(" in row[2] for row in page.head["threads"]), True)
        (folder / "several.html").unlink()
        (folder / "several_again.html").unlink()
        page = check_several(program, folder, [timed[0], counts], tools)
        check("several: no timeline where counts are among them", page.time, None)
        pages += 2
        for options in ([], ["--frames", "module"], ["--frames", "address"]):
            check_sides(program, folder, timed[0], timed[1], options)
            pages += 1
    print(f"{pages} pages, {problems} problems{'' if tools else '; no node: decode.js was not asked'}")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main())

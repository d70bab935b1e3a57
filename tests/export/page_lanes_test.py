#!/usr/bin/env python3
"""The lanes of a page are the intervals of `dump --intervals`, its measures those of `top --event`.

    page_lanes_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
import read_page  # pylint: disable=wrong-import-position  # noqa: E402
import switch_capture as sc  # pylint: disable=wrong-import-position  # noqa: E402

STATES = ["running", "blocked", "woken", "preempted", "awake", "unknown"]
FLAGS = "seln~"
GAP = 6


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def page_of(spk, *options):
    run("export", spk, "--format", "html", "-o", "page.html", "--force", *options)
    return read_page.Page("page.html")


def dumped(spk):
    """tid -> rows (from, to, state, reason, flags, stack, waker, waker's stack) of the file."""
    lanes = {}
    for line in run("dump", spk, "--intervals").splitlines()[1:]:
        tid, start, end, *rest = line.split("\t")
        lanes.setdefault(int(tid), []).append((int(start), int(end), *rest))
    return lanes


def waker_text(waker):
    """As `dump` has it, but for the thread that an interrupt came upon."""
    return "-" if waker is None else {1: str(waker[1]), 2: "irq", 3: "dpc"}[waker[0]]


def compare(page, lanes):
    """Every interval, and callstacks that are one to one."""
    head, paths = page.head["lanes"], {}

    def same_stack(text, node):
        path = tuple(page.path(node)) if node >= 0 else ()
        assert len(path) == (0 if text == "-" else len(text.split(" "))), (text, path)
        assert paths.setdefault(path, text) == text or len(path) == 0, (text, path)

    assert sorted(thread[1] for thread in head["threads"]) == sorted(lanes)
    for thread, rows in zip(head["threads"], page.lanes, strict=True):
        kept = [row for row in rows if row[2] != GAP]
        assert len(kept) == len(lanes[thread[1]]), thread
        for found, told in zip(kept, lanes[thread[1]], strict=True):
            start, end, state, reason, flags, stack, waker, waker_stack = told
            times = [int(head["start"]) + tick * head["tick"] for tick in found[:2]]
            assert max(abs(times[0] - start), abs(times[1] - end)) <= head["tick"] // 2, (thread, found, told)
            assert STATES[found[2]] == state and (found[4] or "-") == reason, (found, told)
            assert "".join(letter for bit, letter in enumerate(FLAGS) if found[3] >> bit & 1) in (flags, "") or flags == "-", (found, told)
            same_stack(stack, found[5])
            assert waker_text(found[6]) == waker.split(":")[0], (found, told)
            if found[6] is not None and found[6][0] == 1:
                assert found[6][2] < 0 or head["threads"][found[6][2]][1] == found[6][1]
                same_stack(waker_stack, found[6][3])


def check_measures(page, spk):
    names = [measure["name"] for measure in page.head["measures"]]
    for place, event in enumerate(("blocked", "woken", "preempted")):
        measure = page.head["lanes"]["measures"][place]
        if measure < 0:
            assert event not in names
            continue
        assert page.head["measures"][measure]["name"] == event and page.head["measures"][measure]["unit"] == "ns"
        told = json.loads(run("top", spk, "--event", event, "--json", "--frames", "module", "-n", 0))
        sums = {}
        for path, value in page.stacks(0, measure):
            if path:  # `top` lists functions
                sums[path[-1]] = sums.get(path[-1], 0) + value
        rows = {(row["name"]): row["self"] for row in told["rows"] if row["self"]}
        assert {name: value for (name, _), value in sums.items()} == rows, (event, sums, rows)
        assert sum(page.self[0][measure]) == int(page.head["measures"][measure]["totals"][0])


def write_busy(path, switches):
    """Many switches of eight threads on one processor, with lengths from 1 us to 100 ms."""
    chance, system, now, running = random.Random(5), sc.SwitchCapture(), 10, 1
    for tid in range(1, 9):
        system.add_thread(1, tid, f"t{tid}")
    system.add_image(1, 0x401000, "/bin/app")
    for _ in range(switches):
        tid = chance.choice([other for other in range(1, 9) if other != running])
        if chance.random() < 0.7:
            system.wake(now, 0, running, tid, [sc.KERNEL, 0x401000 + chance.randrange(64)])
        now += int(10 ** chance.uniform(0, 5))
        system.switch(now, 0, running, chance.choice([sc.SLEEPS, sc.DISK, sc.ABLE]), tid, [sc.KERNEL, 0x401000 + chance.randrange(64)])
        running = tid
    system.clock(now + 1, 0, running, [0x401000])
    system.write(path)


def check_filters(spk, lanes):
    tid = next(iter(lanes))
    one = page_of(spk, "--tid", tid)
    assert [thread[1] for thread in one.head["lanes"]["threads"]] == [tid]
    assert page_of(spk, "--event", "cpu-clock").head["lanes"]["measures"] == [-1, -1, -1]
    assert {measure["name"] for measure in page_of(spk, "--event", "blocked").head["measures"]} == {"blocked"}
    assert page_of(spk, "--exclude-event", "blocked").head["lanes"]["measures"][0] == -1
    pools = page_of(spk, "--idle-pools")
    assert not any(thread[5] for thread in pools.head["lanes"]["threads"])


def viewed(spk, *options):
    """The page of `view` where there is no display."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | {"TMPDIR": os.getcwd()}
    done = subprocess.run([PROGRAM, "view", spk, *options], check=True, capture_output=True, text=True, env=environment)
    return read_page.Page(done.stdout.strip())


def check_view(spk, lanes):
    wall = viewed(spk, "--wall")
    assert wall.head["measures"][0]["unit"] == "ns" and len(wall.head["lanes"]["threads"]) == len(lanes)
    told = json.loads(run("top", spk, "--wall", "--json"))
    assert int(wall.head["measures"][0]["totals"][0]) == told["weight"] > 0
    wakers = viewed(spk, "--event", "blocked", "--wakers")
    assert any(name.startswith("READIED BY ") for name, _, _ in wakers.functions)
    assert not any(name.startswith("READIED BY ") for name, _, _ in viewed(spk, "--event", "blocked").functions)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sc.write_example("example.perf.data")
        write_busy("busy.perf.data", 4000)
        for name in ("example", "busy"):
            spk = f"{name}.spk"
            run("convert", f"{name}.perf.data", "-o", spk, "--quiet")
            page, lanes = page_of(spk), dumped(spk)
            head = page.head["lanes"]
            assert head["tick"] == 1 if name == "example" else head["tick"] > 1 and 2**29 < head["ticks"] < 2**31, head["tick"]
            compare(page, lanes)
            check_measures(page, spk)
        check_filters("example.spk", dumped("example.spk"))
        check_view("example.spk", dumped("example.spk"))
        run("convert", "example.perf.data", "-o", "switches.spk", "--quiet", "--no-switch-samples", "--no-waits")
        assert page_of("switches.spk").head["lanes"] is None
    print("the lanes of pages are the intervals of their files")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""`waits --path` on a system whose schedule is known: who is on the path, when, where, with which shares.

    wait_path_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
import switch_capture as sc  # pylint: disable=wrong-import-position

CLIENT = sc.CLIENT

# us from the start: from, to, thread, state, reason, who ended it, where.
STEPS = [
    (50, 100, "client", "running", "", "", ""),
    (100, 200, "server", "running", "", "", ""),
    (200, 260, "server", "blocked", "D", "interrupt", "server+0x1300"),
    (260, 270, "server", "woken", "D", "", "server+0x1300"),
    (270, 310, "server", "running", "", "", ""),
    (310, 380, "locker", "running", "", "", "locker+0x1400"),
    (380, 400, "server", "woken", "S", "", "server+0x1320"),
    (400, 470, "server", "running", "", "", "server+0x1330"),
    (470, 475, "client", "woken", "S", "", "client+0x1210"),
    (475, 600, "client", "running", "", "", ""),
]


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=False, capture_output=True, text=True)


def check_long_names():
    """The place of a wait in a function whose name is longer than what a string keeps in itself."""
    name = "wait_for_the_answer_of_the_server"
    system = sc.SwitchCapture()
    system.add_thread(CLIENT, CLIENT, "client")
    system.add_image(CLIENT, 0x401000, "//anon")
    system.switch(10, 0, 0, sc.ABLE, CLIENT)
    system.switch(100, 0, CLIENT, sc.SLEEPS, 0, [sc.KERNEL, 0x401210])
    system.wake(200, 0, 0, CLIENT, [sc.KERNEL], sc.HARD_INTERRUPT)
    system.switch(210, 0, 0, sc.ABLE, CLIENT)
    system.switch(220, 0, CLIENT, sc.SLEEPS, 0, [sc.KERNEL, 0x401210])
    system.write("long.perf.data")
    os.mkdir("maps")
    pathlib.Path(f"maps/perf-{CLIENT}.map").write_text(f"401000 1000 {name}\n")
    done = run("convert", "-s", "--perf-map", "maps", "long.perf.data", "-o", "long.spk")
    assert done.returncode == 0, done
    runs = json.loads(run("waits", "long.spk", "--list", "--json").stdout)
    assert {row["blocked_in"] for row in runs if row["blocked_in"]} == {name}, runs
    steps = json.loads(run("waits", "long.spk", "--path", CLIENT, "--list", "--json").stdout)
    assert {row["where"] for row in steps if row["state"] == "blocked"} == {name}, steps


def check_by_thread(time, by_thread):
    """The table of threads; it is one of sums, of paths."""
    lines = run("waits", "waits.spk", "--path", CLIENT, *time, "--by", "thread").stdout.splitlines()
    assert lines[1].split() == ["time", "share", "steps", "thread"] and lines[2].split()[-2:] == ["[3", "threads]"], lines
    got = {line.split()[4]: (round(float(line.split()[0]) * 1000), int(line.split()[3])) for line in lines[3:]}
    assert got == by_thread, (got, by_thread)
    most = max(by_thread, key=by_thread.get)
    short = run("waits", "waits.spk", "--path", CLIENT, *time, "--by", "thread", "-n", "1").stdout.splitlines()
    assert short[:4] == lines[:4] and short[3].split()[4] == most and short[4:] == ["2 threads more; -n 0 shows all"], short
    steps = run("waits", "waits.spk", "--path", CLIENT, *time, "--by", "step").stdout
    assert steps == run("waits", "waits.spk", "--path", CLIENT, *time).stdout, steps
    for words, error in ((["--by", "thread"], "--by goes with --path"), (["--path", CLIENT, "--by", "thread", "--list"], "--list")):
        failed = run("waits", "waits.spk", *words)
        assert failed.returncode == 1 and error in failed.stderr and not failed.stdout, failed


def check_wakers():
    """Wakers in the list have names as threads have, and numbers; an interrupted thread is none."""
    rows = json.loads(run("waits", "waits.spk", "--list", "--json").stdout)
    names = {str(row["tid"]): row["name"] for row in rows}
    woken = [row for row in rows if row["woken_by"] in names]
    assert woken and all(row["woken_by_name"] == names[row["woken_by"]] != "" for row in woken), rows
    others = [row for row in rows if row["woken_by"].startswith("irq:") or row["woken_by"] == "-"]
    assert others and all(row["woken_by_name"] == "" for row in others), rows
    lines = [line.split("\t") for line in run("waits", "waits.spk", "--list").stdout.splitlines()[1:]]
    for row, line in zip(rows, lines, strict=True):
        name = row["woken_by_name"]
        assert line[7] == (f"{name}[{row['woken_by']}]" if name else row["woken_by"]), (row, line)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_long_names()
        sc.write_example("waits.perf.data")
        assert run("convert", "waits.perf.data", "-o", "waits.spk").returncode == 0
        check_wakers()
        time = ["--from", "5.000050", "--to", "5.000600"]
        steps = json.loads(run("waits", "waits.spk", "--path", CLIENT, *time, "--list", "--json").stdout)
        got = [((row["from_ns"] - sc.START) / 1000, (row["to_ns"] - sc.START) / 1000, row["name"], row["state"], row["reason"], row["ended_by"], row["where"])
               for row in steps]
        assert got == STEPS, got
        assert [row["depth"] for row in steps] == [0, 1, 1, 1, 1, 2, 1, 1, 0, 0], steps
        report = json.loads(run("waits", "waits.spk", "--path", CLIENT, *time, "--json").stdout)
        shares = {}
        for start, end, name, state, reason, ended, where in STEPS:
            key = (name, state, reason, ended, where)
            shares[key] = shares.get(key, 0) + (end - start) * 1000
        rows = {tuple(row[key] for key in ("name", "state", "reason", "ended_by", "where")): row for row in report["shares"]}
        assert {key: row["ns"] for key, row in rows.items()} == shares, report
        assert all(abs(row["share"] - row["ns"] / 550_000) < 1e-6 for row in rows.values()), report
        assert [row["ns"] for row in report["shares"]] == sorted(shares.values(), reverse=True), report
        assert (report["to_ns"] - report["from_ns"], report["steps"], report["tid"], report["name"]) == (550_000, 10, CLIENT, "client"), report
        by_thread = {}
        for start, end, name, *_ in STEPS:
            time_ns, count = by_thread.get(name, (0, 0))
            by_thread[name] = (time_ns + (end - start) * 1000, count + 1)
        assert {row["name"]: (row["ns"], row["steps"]) for row in report["threads"]} == by_thread and len(report["threads"]) == 3, report
        assert [row["ns"] for row in report["threads"]] == sorted((ns for ns, _ in by_thread.values()), reverse=True), report
        assert all(abs(row["share"] - row["ns"] / 550_000) < 1e-6 for row in report["threads"]) and report["threads_left_out"] == 0, report
        check_by_thread(time, by_thread)
        # The capture itself, and without a range: all that is known of the thread.
        whole = json.loads(run("waits", "waits.perf.data", "--path", CLIENT, "--json").stdout)
        assert (whole["from_ns"], whole["to_ns"]) == (sc.START + 5_000, sc.START + 600_000), whole
        text = run("waits", "waits.spk", "--path", CLIENT, *time, "-n", "2").stdout
        assert text.splitlines()[0] == "path of client (101) from 5.000050000 to 5.000600000, times in us", text
        assert text.splitlines()[2].split() == ["550.000", "100.0", "%", "10", "[3", "threads]"], text
        assert text.splitlines()[3].split() == ["175.000", "31.8", "%", "2", "client", "(101)", "running", "-", "-", "-"], text
        assert text.splitlines()[-1] == "6 rows more; -n 0 shows all", text
        for words, error in ((["--path", 999], "no intervals in the time range"), (["--path", CLIENT, "--tid", 1], "--tid"),
                             (["--path", CLIENT, "--from", 9, "--to", 10], "no intervals in the time range")):
            failed = run("waits", "waits.spk", *words)
            assert failed.returncode == 1 and error in failed.stderr and not failed.stdout, failed


if __name__ == "__main__":
    main()

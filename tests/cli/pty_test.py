#!/usr/bin/env python3
"""What the program does on a terminal: pty_test.py PROGRAM

Binary output is refused there, colours and progress depend on TERM and NO_COLOR.
"""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import termios
import threading
import unicodedata

problems = []


def on_terminal(program, arguments, term, columns=80, **environment):
    """Exit status and what came out of the terminal, of both streams."""
    settings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    settings.update(environment)
    if term is not None:
        settings["TERM"] = term
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    job = subprocess.Popen([program] + [str(argument) for argument in arguments], stdin=subprocess.DEVNULL,
                           stdout=slave, stderr=slave, env=settings)
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(master)
    return job.wait(timeout=60), output


def need(condition, what):
    if not condition:
        problems.append(what)


def check_names(program, folder):
    """Rows of functions: short, all different, none wider than the terminal; whole in a pipe when asked for."""
    names = folder / "names.folded"
    functions = ["\u00e4" * 200, "short", "\u6f22\u5b57" * 60,
                 "std::vector<int, std::allocator<int> >::push_back(int const&)",
                 "std::vector<int, std::allocator<int> >::push_back(int&&)",
                 "std::unordered_map<std::string, std::vector<int, std::allocator<int> > >::operator[](std::string const&)",
                 *("ns::" * 30 + f"C<{k * 'very::'}long>::run(int)" for k in range(12))]
    names.write_text("".join(f"main;{name} {3 + k}\n" for k, name in enumerate(functions)), encoding="utf-8")
    for columns in (40, 70, 80, 81, 100, 200):
        for command in (["top", names], ["top", names, "--by", "line"], ["callees", names, "main"],
                        ["diff", names, "--against", names, "-n", "0"]):
            status, output = on_terminal(program, command, "xterm", columns=columns)
            lines = [line for line in output.decode().splitlines() if "%  " in line]
            wide = [line for line in lines if width_of(line) > max(columns, 72)]
            need(status == 0 and len(lines) > len(functions) and not wide,
                 f"{command[0]} in {columns} columns: {status} {wide}")
            titles = [title_of(line, command[0]) for line in lines]
            need(len(set(titles)) == len(titles), f"{command[0]} in {columns} columns has names that are alike: {titles}")
    output = on_terminal(program, ["top", names], "xterm", columns=100)[1].decode()
    need("  std::unordered_map::operator[]" in output, f"a name of a map: {output}")
    need("push_back(int const&)" in output and "push_back(int&&)" in output, f"overloads: {output}")
    need(all(re.match(r" +[0-9.]+%  +[0-9.]+%  ", line) for line in output.splitlines()[2:]), f"shares stand first: {output}")
    need(any(line.endswith("#") for line in output.splitlines()), f"the bar stands last: {output}")
    short, full = (subprocess.run([program, "top", names, *option], capture_output=True, check=True,
                                  encoding="utf-8").stdout for option in ([], ["--function-names", "full"]))
    need(all(name in full for name in functions), "a full name is cut in a pipe")
    need("#" not in short + full, "bars in a pipe")
    need("  std::unordered_map::operator[]\n" in short, f"short names in a pipe: {short}")
    for kind, name in (("short", "std::unordered_map::operator[]"), ("full", functions[5])):
        table = json.loads(subprocess.run([program, "top", names, "--json", "--function-names", kind],
                                          capture_output=True, check=True).stdout)
        need(name in [row["name"] for row in table["rows"]], f"{kind} names in JSON: {table}")
    table = json.loads(subprocess.run([program, "top", names, "--json"], capture_output=True, check=True).stdout)
    need(set(functions) <= {row["name"] for row in table["rows"]}, "names of JSON are whole")


def check_first_look(program, folder, capture):
    """The end of a conversion: what is lacking, or the hottest functions, and the next command. For people alone."""
    for options, wanted in (([], "no function names yet; -s adds them: files of "), (["-s"], "hottest: ")):
        arguments = ["convert", *options, capture, "-o", folder / "first.spk"]
        status, output = on_terminal(program, arguments, "xterm")
        lines = output.decode().splitlines()
        need(status == 0 and any(wanted in line for line in lines), f"{options}: {status} {lines}")
        need(lines[-1].endswith(f"next: stackpack view {folder / 'first.spk'}"), f"{options}: {lines}")
        piped = subprocess.run([program, *map(str, arguments)], capture_output=True, check=True)
        need(b"next" not in piped.stderr and piped.stdout == b"", f"{options}: said in a pipe: {piped.stderr}")
        quiet = on_terminal(program, [*arguments, "--quiet"], "xterm")[1]
        need(b"next" not in quiet, f"{options}: said though quiet: {quiet}")


def check_progress_of_pages(program, folder, packed):
    """What makes a page says so on a terminal, for as long as it takes, and takes the line away."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    for term, more, shown in (("xterm", [], True), ("xterm", ["--quiet"], False), ("dumb", [], False)):
        reader = threading.Timer(0.9, lambda: pipe.read_bytes())  # until then, the page is being written
        reader.start()
        status, output = on_terminal(program, ["export", packed, "--format", "html", "-o", pipe, *more], term)
        reader.join()
        need(status == 0 and (b"making the page; " in output) == shown, f"{term} {more}: {status} {output[:300]}")
        left = [line.split(b"\x1b[K")[-1] for line in output.split(b"\n")]
        need(not any(b"making" in line for line in left), f"{term} {more}: a line is left: {left}")


def check_branches(program, folder):
    """Lines whose branches are mispredicted often are in colours: 3 of 28 of the branch at the end of the loop."""
    maker = pathlib.Path(__file__).resolve().parent
    build_id, capture, files = "0102030405060708090a0b0c0d0e0f1011121314", folder / "branches.data", folder / "files"
    files.mkdir()
    subprocess.run([sys.executable, maker / "make_capture.py", capture, "12", "--branches", "--build-id", build_id], check=True)
    subprocess.run([sys.executable, maker / "make_elf.py", files / "demo", "--build-id", build_id, "work=401000+20", "loop=401020+20"],
                   check=True)
    arguments = ["top", capture, "--annotate", "loop", "--symbols", files]
    for more, yellow in (({}, True), ({"NO_COLOR": "1"}, False)):
        status, output = on_terminal(program, arguments, "xterm", **more)
        lines = output.split(b"\n")
        need(status == 0 and any(b"mispred" in line for line in lines), f"{status} {output[:300]}")
        share = [line for line in lines if b"10.7" in line]
        need(len(share) == 1 and (share[0].startswith(b"\x1b[33m") and b"\x1b[0m" in share[0]) == yellow, f"{more}: {share} {output}")
        need(yellow or b"\x1b[3" not in output, f"colours against the user's will: {output}")


def title_of(line, command):
    """The name in a row: behind four figures; of diff, behind verdict and intervals."""
    cells = re.split("  +", line.strip())
    return cells[4] if command != "diff" else next(cell for cell in cells[5:] if not re.match(r"[-+][0-9.]+pp", cell))


def width_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    maker = pathlib.Path(__file__).resolve().parent / "make_capture.py"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture, packed = folder / "in.perf.data", folder / "in.spk"
        subprocess.run([sys.executable, str(maker), str(capture), "12"], check=True)
        subprocess.run([program, "convert", str(capture), "-o", str(packed), "--quiet"], check=True)

        binary = [["convert", capture, "-o", "-"]]
        binary += [["export", packed, "--to", kind, "-o", "-"] for kind in ("pprof", "firefox", "otlp", "perfetto")]
        for arguments in binary:
            status, output = on_terminal(program, arguments, "xterm")
            need(status == 1 and b"standard output is a terminal" in output and b"\0" not in output,
                 f"{arguments[0]}: {status} {output[:200]}")
        status, output = on_terminal(program, ["export", packed, "--to", "folded", "-o", "-"], "xterm")
        need(status == 0 and b"demo" in output, f"folded text is for people, too: {status} {output[:200]}")

        check_branches(program, folder)
        bad = ["verify", folder / "missing.spk"]
        need(b"\x1b[" in on_terminal(program, bad, "xterm")[1], "no colour on a terminal")
        for term, more in (("dumb", {}), (None, {}), ("xterm", {"NO_COLOR": "1"})):
            need(b"\x1b" not in on_terminal(program, bad, term, **more)[1], f"colour with TERM={term} {more}")

        check_names(program, folder)
        # The names of an imported profile are all there are.
        (folder / "script.txt").write_text("demo 7/7 1.000000: 5 cycles: \n\t 10 f (/bin/demo)\n", encoding="utf-8")
        subprocess.run([program, "convert", folder / "script.txt", "-o", folder / "script.spk", "--quiet"], check=True)
        status, output = on_terminal(program, ["top", folder / "script.spk"], "xterm")
        need(status == 0 and b"/bin/demo" not in output and b"symbolize" not in output, f"a note on names: {status} {output[:200]}")
        check_first_look(program, folder, capture)
        check_progress_of_pages(program, folder, packed)

        long = folder / "long.perf.data"
        subprocess.run([sys.executable, str(maker), str(long), "400000"], check=True)
        status, output = on_terminal(program, ["convert", long, "-o", folder / "dumb.spk"], "dumb")
        need(status == 0 and b"\x1b" not in output, f"cursor moves with TERM=dumb: {output[:200]}")
    for problem in problems:
        print("FAILED " + problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

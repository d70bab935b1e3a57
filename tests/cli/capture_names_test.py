#!/usr/bin/env python3
"""Commands that are given a capture name its functions by themselves: capture_names_test.py PROGRAM COMPILER

Compiles a program, makes a capture of it, and asks every command that shows functions: with the program in its place,
in the folders where other tools keep files by build id, and nowhere.
"""
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "symbolize"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
sys.dont_write_bytecode = True
import addressed_capture  # noqa: E402
import mcp_client  # noqa: E402
import debug_files_test as material  # noqa: E402
import read_page  # noqa: E402

SOURCE = "int hot_function(int x) { return x * 7 + 1; }\nint main(int n, char** v) { (void)v; return hot_function(n); }\n"
NAME = "hot_function"


class Tester:
    def __init__(self, program, compiler, folder):
        self.program, self.folder, self.problems = program, folder, []
        self.home = folder / "home"
        self.home.mkdir()
        (folder / "code.c").write_text(SOURCE)
        self.image_path = folder / "bin" / "code"
        self.image_path.parent.mkdir()
        subprocess.run([compiler, "-x", "c", "-O1", "-fno-inline", str(folder / "code.c"), "-Wl,--build-id=sha1", "-o", str(self.image_path)],
                       check=True)
        self.image = material.Image(self.image_path)
        material.PATH = str(self.image_path)
        start, main_start = (next(start for start, size, name in self.image.symbols if name == wanted) for wanted in (NAME, "main"))
        bias = 0 if self.image.loads[0][3] else material.BIAS
        data = material.make_capture.comm(addressed_capture.PID, addressed_capture.PID, "demo", 0)
        data += material.mmap2(*self.image.mapping(bias), self.image.build_id)
        for name, later in (("a.data", start), ("b.data", start), ("c.data", main_start)):
            addressed_capture.write_records(folder / name, data + b"".join(
                addressed_capture.sample(bias + (start if i < 25 else later) + 1, i) for i in range(50)))

    def run(self, *arguments, **environment):
        return subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.home), **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def expect(self, named, *arguments, **environment):
        done = self.run(*arguments, **environment)
        if done.returncode != 0 or (NAME in done.stdout) != named:
            self.problems.append(f"{arguments}: status {done.returncode}, named should be {named}:\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def on_terminal(self, *arguments):
        """What goes to standard error where that is a terminal."""
        master, slave = pty.openpty()
        subprocess.run([self.program, *arguments], cwd=self.folder, check=False, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=slave, env={"HOME": str(self.home), "NO_COLOR": "1"})
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:
            pass  # all is read, and nobody writes
        os.close(master)
        return text.decode()

    def check(self, what, good):
        if not good:
            self.problems.append(what)


def commands_name_captures(tester):
    for arguments in (["top", "a.data"], ["callees", "a.data", NAME], ["callers", "a.data", NAME], ["show", "a.data", "0"],
                      ["export", "a.data", "--format", "folded", "-o", "-"], ["diff", "a.data", "--against", "b.data"]):
        done = tester.expect(True, *arguments)
        tester.check(f"{arguments}: {done.stderr}", "symbolize" not in done.stderr)
    for arguments in (["top", "a.data"], ["show", "a.data", "0"], ["export", "a.data", "--format", "folded", "-o", "-"],
                      ["diff", "a.data", "--against", "b.data"]):
        done = tester.expect(False, *arguments, "--no-symbolize")
        tester.check(f"{arguments}: {done.stderr}", "symbolize" not in done.stderr)
    for arguments in (["a.data"], ["a.data", "b.data"]):
        done = tester.run("export", *arguments, "--format", "html", "-o", "page.html", "--force")
        tester.check(f"page of {arguments}: {done.stderr}", done.returncode == 0 and done.stderr == "")
    page = read_page.Page(tester.folder / "page.html")
    tester.check(f"labels of a page of captures: {page.head['title']}", page.head["title"] == "2 captures: a.data, b.data")
    tester.check("names in a page of captures", any(name == NAME for name, *_ in page.functions))
    refused = tester.run("export", "a.data", "b.data", "--format", "html", "-o", "b.data", "--force")
    tester.check("a capture as the output", refused.returncode != 0)


def packed_files_say_how(tester):
    tester.run("convert", "a.data", "-o", "it's a.spk")
    done = tester.expect(False, "top", "it's a.spk")
    tester.check(f"a hint in a pipe: {done.stderr}", done.stderr == "")
    text = tester.on_terminal("top", "it's a.spk")
    said = re.search(r"stackpack (symbolize .*) adds them", text)
    tester.check(f"no command: {text}", said)
    tester.check(f"one line: {text}", text.count("\n") == 1)
    if said:
        named = shlex.split(said.group(1))
        tester.run(*named)
        tester.expect(True, "top", named[-1])
        again = tester.on_terminal("top", named[-1])
        tester.check(f"still: {again}", again == "")
    done = tester.run("convert", "-s", "a.data", "-o", "s.spk")
    tester.check(done.stderr, done.returncode == 0)
    tester.expect(True, "top", "s.spk")


def what_is_shown_is_named(tester):
    """A report of some samples names no others, and says what one of the file with all names says."""
    tester.run("convert", "-s", "c.data", "-o", "c.spk")
    seen = set()
    for options in (["--to", "+24us"], ["--from", "+25us"], ["--time", "+20us,+30us"], ["--pid", addressed_capture.PID],
                    ["--comm", "demo"], ["--cpu", "0"], ["--event", "cpu-clock"], ["--tid", 1], ["--comm", "nobody"]):
        for report in (["top"], ["top", "--tree"], ["callers", "main"]):
            answers = [tester.run(report[0], file, *report[1:], *options, "--json") for file in ("c.data", "c.spk")]
            texts = [done.stdout.replace("c.spk", "c.data") for done in answers]
            tester.check(f"{report} {options}: {texts}", texts[0] == texts[1] and answers[0].returncode == answers[1].returncode)
            if report == ["top"] and texts[0]:
                seen.add(tuple(row["name"] for row in json.loads(texts[0])["rows"]))
    tester.check(f"rows: {seen}", {(NAME,), ("main",)} <= seen)


def caches_are_looked_into(tester):
    away = tester.folder / "away"
    shutil.move(tester.image_path, away)
    tester.expect(False, "top", "a.data")
    build_id = tester.image.build_id.hex()
    caches = tester.folder / "caches"
    for place, environment in (
            (tester.home / ".debug" / ".build-id" / build_id[:2] / build_id[2:] / "elf", {}),
            (tester.home / ".cache/debuginfod_client" / build_id / "executable", {}),
            (caches / "debuginfod_client" / build_id / "executable", {"XDG_CACHE_HOME": str(caches)}),
            (caches / build_id / "executable", {"DEBUGINFOD_CACHE_PATH": str(caches)})):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(away, place)
        tester.expect(True, "top", "a.data", **environment)
        tester.expect(False, "top", "a.data", "--sysroot", tester.home, **environment)
        place.unlink()
    tester.expect(False, "top", "a.data")
    tester.expect(True, "top", "a.data", "--symbols", place_of_copy(tester, away))


def place_of_copy(tester, away):
    folder = tester.folder / "copies"
    folder.mkdir()
    shutil.copy(away, folder / "code")
    return folder


def run_time_code(tester, maps):
    """Code that a process made is named by its map: by `top`, by the server of agents, and in a merged file with its process."""
    address = 0x7000_0000_0000
    maps.mkdir()
    (maps / f"perf-{addressed_capture.PID}.map").write_text(f"{address:x} 100 {NAME}\n")
    for name in ("jit.data", "jit2.data"):
        data = material.make_capture.comm(addressed_capture.PID, addressed_capture.PID, "demo", 0)
        data += b"".join(addressed_capture.sample(address + 16, i) for i in range(30))
        addressed_capture.write_records(tester.folder / name, data)
        tester.run("convert", name, "-o", name + ".spk", "--symbolize", "--perf-map", maps)
    by_top = tester.expect(True, "top", "jit.data", "--perf-map", maps, "--json")
    client = mcp_client.McpClient(tester.program, tester.folder, "--symbolize", "--perf-map", maps)
    result = client.call("top", file="jit.data")
    by_server = json.loads(result["content"][0]["text"])["rows"]
    tester.check(f"rows of the server: {by_server}", by_server == json.loads(by_top.stdout)["rows"])
    tester.expect(True, *result["_meta"]["stackpack/command"])
    client.close()
    tester.check("a map without --symbolize", tester.run("mcp", ".", "--perf-map", maps).returncode == 1)
    tester.run("merge", "jit.data.spk", "jit2.data.spk", "-o", "merged.spk")
    for file in ("jit.data.spk", "merged.spk"):
        rows = json.loads(tester.expect(True, "top", file, "--json").stdout)["rows"]
        tester.check(f"{file}: {rows}", [row["module"] for row in rows] == ["[JIT] demo"])


def what_has_no_names_is_said(tester, compiler):
    """One line on standard error, and in `notices`: of a file that was replaced, and of names that nothing reads."""
    def expect_line(*words):
        done = tester.run("top", "a.data")
        tester.check(f"{words}: {done.stderr}", done.stderr.count("\n") == 1 and all(word in done.stderr for word in words))
        notices = json.loads(tester.run("top", "a.data", "--json").stdout).get("notices", [])
        tester.check(f"{words}: {notices}", len(notices) == 1 and all(word in notices[0] for word in words))

    source = tester.folder / "other.c"
    for extra in ("other", "encoded"):
        source.write_text(SOURCE.replace(NAME, "_ZN1aQQQ") + ("int more;\n" if extra == "other" else ""))
        options = [] if extra == "other" else [f"-Wl,--build-id=0x{tester.image.build_id.hex()}"]
        subprocess.run([compiler, "-x", "c", "-O1", "-fno-inline", str(source), "-Wl,--build-id=sha1", *options, "-o", str(tester.image_path)], check=True)
        if extra == "other":
            expect_line(str(tester.image_path), "have no names: the file there is of another build")
        else:
            expect_line("1 of the names", "stay as linked")


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        tester = Tester(str(pathlib.Path(program).resolve()), compiler, pathlib.Path(name))
        commands_name_captures(tester)
        packed_files_say_how(tester)
        what_is_shown_is_named(tester)
        caches_are_looked_into(tester)
        run_time_code(tester, pathlib.Path(name) / "maps")
        what_has_no_names_is_said(tester, compiler)
    for problem in tester.problems:
        print("FAILED", problem)
    return 1 if tester.problems else 0


if __name__ == "__main__":
    sys.exit(main())

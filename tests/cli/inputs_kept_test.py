#!/usr/bin/env python3
"""What a command has read it never writes: inputs_kept_test.py PROGRAM SOURCE_DIR

The options come from the program's own help. Each option of a command with outputs that takes a path must have a case
here, or the test fails: a command line that reads a file by that option, and the file. The output is then given as that
file, in every way to spell it, with --force and without. The file must be what it was, and the command must say so.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PATHS = ["LIBRARY", "INPUT...", "FOLDER...", "LIST", "FILE", "FILE...", "FILE.spk", "FILE.spk...", "IN.spk", "DIR", "DIR|BUNDLE.zip", "DIR|BUNDLE.zip|FILE", "BUNDLE.zip",
         "OLD...", "NEW...", "ELF"]
OTHERS = ["", "FROM,TO", "SQL", "NAME", "N", "TIME", "SIZE", "SPAN", "EXPR", "CONDITION", "PERCENT", "WHOLE", "FUNCTION", "ID...", "TOPIC", "WORK", "KEY",
          "EVENT", "ACTION", "ID", "OLD=NEW", "STATE", "TYPE", "PROVIDER", "KEY=VALUE", "LOCK"]
OUTPUTS = ["--output", "--out-dir", "--all-images", "--junit", "--sarif"]
REFUSALS = ("is the input itself; give the output another name", "is read for this output; give the output another name",
            "holds the input; give the output another name", "is one of the inputs, and would be the output of")
# Command and option: command lines, OUT where the output stands, and the file that each reads by the option.
CASES = {
    ("convert", "INPUT..."): [("convert demo.data -o OUT", "demo.data"),
                              ("convert demo.data --symbolize -o OUT", "demo.data"),
                              ("convert demo.data --rebase -o OUT", "demo.data"),
                              ("convert --session one.etl two.etl -o OUT", "two.etl"),
                              ("convert archive.zip --member one.etl -o OUT", "archive.zip"),
                              ("convert packed.gz -o OUT", "packed.gz")],
    ("convert", "--files-from"): [("convert --files-from list --out-dir OUT/demo.data.spk", "list")],
    ("convert", "--symbols"): [("convert --unwind dumps.data --symbols here -o OUT", "here/framed"),
                               ("convert --unwind dumps.data --symbols bundle.zip -o OUT", "bundle.zip"),
                               ("convert --unwind dumps.data --symbols bundle.zip --out-dir OUT/dumps.data.spk", "bundle.zip"),
                               ("convert dumps.data --unwind --symbolize --symbols here -o OUT", "here/framed")],
    ("convert", "--sysroot"): [("convert --unwind dumps.data --sysroot root -o OUT", "root/home/user/framed"),
                               ("convert demo.data --symbolize --sysroot root -o OUT", "root/usr/bin/demo")],
    ("convert", "--kallsyms"): [("convert demo.data --symbolize --kallsyms kallsyms -o OUT", "kallsyms"),
                                ("convert demo.data --symbolize --kallsyms kallsyms --out-dir OUT/demo.data.spk", "kallsyms")],
    ("convert", "--perf-map"): [("convert jit.data --symbolize --perf-map maps -o OUT", "maps/perf-100.map")],
    ("diff", "OLD..."): [("diff old.spk --against new.spk --html -o OUT", "old.spk"),
                         ("diff old.spk --against new.spk --junit OUT", "old.spk"),
                         ("diff old.spk --against new.spk --sarif OUT", "new.spk"),
                         ("diff demo.data --against new.spk --html -o OUT", "demo.data")],
    ("diff", "--against"): [("diff old.spk --against new.spk --html -o OUT", "new.spk")],
    ("diff", "--files-from"): [("diff --files-from merged --against new.spk --html -o OUT", "merged"),
                               ("diff --files-from merged --against new.spk --html -o OUT", "old.spk"),
                               ("diff --files-from merged --against new.spk --junit OUT", "merged")],
    ("diff", "--against-from"): [("diff old.spk --against-from merged --html -o OUT", "merged")],
    ("diff", "--allow"): [("diff old.spk --against new.spk --allow allowed --html -o OUT", "allowed")],
    ("diff", "--gate"): [("diff old.spk --against new.spk --gate gate --html -o OUT", "gate")],
    ("diff", "--symbols"): [("diff dumps.data --against dumps.data --symbols here --html -o OUT", "here/framed")],
    ("diff", "--sysroot"): [("diff demo.data --against demo.data --sysroot root --html -o OUT", "root/usr/bin/demo")],
    ("export", "FILE"): [("export old.spk --format folded -o OUT", "old.spk"),
                         ("export demo.data --format folded -o OUT", "demo.data"),
                         ("export old.spk --format csv -o OUT/samples.csv", "old.spk"),
                         ("export branches.data --format autofdo --all-images OUT/demo.autofdo --sysroot root", "branches.data"),
                         ("export old.spk new.spk --format html -o OUT", "new.spk")],
    ("export", "--binary"): [("export branches.data --format autofdo --binary root/usr/bin/demo -o OUT", "root/usr/bin/demo"),
                             ("export branches.data --format autofdo --binary root/usr/bin/demo -o OUT", "branches.data")],
    ("export", "--symbols"): [("export dumps.data --symbols here --format folded -o OUT", "here/framed")],
    ("export", "--sources"): [("export lines.pprof --format html --sources here -o OUT", "here/lines.c")],
    ("export", "--sysroot"): [("export demo.data --sysroot root --format folded -o OUT", "root/usr/bin/demo"),
                              ("export branches.data --format autofdo --all-images OUT/demo.autofdo --sysroot root",
                               "root/usr/bin/demo")],
    ("trend", "DIR"): [("trend base --html -o OUT", "base/000001-one-0123456789abcdef.spk")],
    ("cut", "IN.spk"): [("cut old.spk -o OUT", "old.spk")],
    ("redact", "IN.spk"): [("redact old.spk -o OUT", "old.spk")],
    ("export", "--kallsyms"): [("export demo.data --format folded --kallsyms kallsyms -o OUT", "kallsyms")],
    ("export", "--perf-map"): [("export jit.data --format folded --perf-map maps -o OUT", "maps/perf-100.map")],
    ("diff", "--kallsyms"): [("diff demo.data --against demo.data --kallsyms kallsyms --html -o OUT", "kallsyms")],
    ("diff", "--perf-map"): [("diff jit.data --against jit.data --perf-map maps --html -o OUT", "maps/perf-100.map")],
    ("redact", "--key"): [("redact old.spk --key kallsyms -o OUT", "kallsyms")],
    ("symbolize", "IN.spk"): [("symbolize old.spk -o OUT", "old.spk")],
    ("symbolize", "--symbols"): [("symbolize framed.spk --symbols here -o OUT", "here/framed"),
                                 ("symbolize framed.spk --symbols bundle.zip -o OUT", "bundle.zip")],
    ("symbolize", "--sysroot"): [("symbolize old.spk --sysroot root -o OUT", "root/usr/bin/demo")],
    ("symbolize", "--kallsyms"): [("symbolize old.spk --kallsyms kallsyms -o OUT", "kallsyms")],
    ("symbolize", "--perf-map"): [("symbolize jit.spk --perf-map maps -o OUT", "maps/perf-100.map")],
    ("collect", "INPUT..."): [("collect framed.spk -o OUT", "framed.spk"), ("collect dumps.data -o OUT", "dumps.data")],
    ("collect", "--symbols"): [("collect dumps.data --symbols bundle.zip -o OUT", "bundle.zip"),
                               ("collect dumps.data --symbols here -o OUT", "here/framed")],
    ("collect", "--sysroot"): [("collect dumps.data --sysroot root -o OUT", "root/home/user/framed")],
    ("merge", "INPUT..."): [("merge old.spk new.spk -o OUT", "new.spk"), ("merge old.spk demo.data -o OUT", "demo.data")],
    ("merge", "--files-from"): [("merge --files-from merged -o OUT", "merged")],
}
# Options of a command that go with none of its outputs: --units with --per run, which has no page.
NO_OUTPUT = [("diff", "--units"), ("mcp", "FOLDER..."), ("query", "--duckdb")]


def options_of(program, command):
    """Names, or what stands for an argument, with the kind of value; the longest name of each."""
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    options, section = [], ""
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z].*:", line):
            section = line
        elif not section or section in ("Usage:", "Examples:"):
            continue
        elif section == "Arguments:" and (found := re.match(r"  (\S+)", line)):
            options.append((found[1], found[1]))
        elif found := re.match(r"  +(-[\w-]+(?:, -[\w-]+)*)(?: ([A-Z]\S*|[a-z0-9]+\|\S+))?(?:  |$)", line):
            options.append((found[1].split(", ")[-1], found[2] or ""))
    return options


def commands_of(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (\w+) ", text[text.index("Commands:"):text.index("Options:")], re.MULTILINE)


def missing_cases(program):
    problems, seen = [], set()
    for command in commands_of(program):
        options = options_of(program, command)
        problems += [f"{command} {name}: is {value} a path? Add it to PATHS or OTHERS" for name, value in options
                     if value not in PATHS + OTHERS and "|" not in value]
        if not any(name in OUTPUTS for name, _ in options):
            continue
        for name, value in options:
            if value in PATHS and name not in OUTPUTS and (command, name) not in NO_OUTPUT:
                seen.add((command, name))
                problems += [f"{command} {name}: takes a path and has no case here"] if (command, name) not in CASES else []
    return problems + [f"{case}: no such option" for case in set(CASES) - seen]


def profile_of_a_line():
    """pprof: a sample in line 2 of lines.c."""
    def field(key, content):
        return bytes([key << 3 | 2, len(content)]) + content

    def whole(key, value):
        return bytes([key << 3, value])
    texts = b"".join(field(6, text) for text in (b"", b"samples", b"count", b"main", b"lines.c"))
    return (field(1, whole(1, 1) + whole(2, 2)) + field(2, whole(1, 1) + whole(2, 1)) + field(4, whole(1, 1) + field(4, whole(1, 1) + whole(2, 2)))
            + field(5, whole(1, 1) + whole(2, 3) + whole(4, 4)) + texts)


def make_files(program, source, folder):
    def run(*arguments):
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)

    def script(name, *arguments):
        subprocess.run([sys.executable, source / "tests" / "cli" / name, *arguments], cwd=folder, check=True)

    testdata = source / "testdata"
    for name in ("here", "maps", "root/home/user", "root/usr/bin"):
        (folder / name).mkdir(parents=True)
    shutil.copy(testdata / "unwind" / "dumps.data", folder)
    shutil.copy(testdata / "unwind" / "framed", folder / "here")
    shutil.copy(testdata / "unwind" / "framed", folder / "root/home/user")
    shutil.copy(testdata / "sampled.x64.etl", folder / "one.etl")
    shutil.copy(testdata / "sampled.x64.etl", folder / "two.etl")
    script("make_capture.py", "demo.data")
    script("make_capture.py", "branches.data", "--branches")
    script("make_elf.py", "root/usr/bin/demo", "main=401000+c", "parse=401010+10")
    demo = (folder / "demo.data").read_bytes()
    (folder / "jit.data").write_bytes(demo.replace(b"/usr/bin/demo", b"//anon".ljust(13, b"\0")))
    (folder / "maps/perf-100.map").write_text("401000 100 compiled\n")
    (folder / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81000000 T start\nffffffff81000300 t end\n")
    (folder / "lines.pprof").write_bytes(profile_of_a_line())
    (folder / "here/lines.c").write_text("int main()\n{}\n")
    (folder / "list").write_text("demo.data\n")
    (folder / "merged").write_text("old.spk\n")
    (folder / "allowed").write_text("main\n")
    (folder / "gate").write_text('allow = ["main"]\n')
    shutil.make_archive(folder / "archive", "zip", folder, "one.etl")
    subprocess.run(["gzip", "-kc", "demo.data"], cwd=folder, check=True, stdout=(folder / "packed.gz").open("wb"))
    run("convert", "demo.data", "-o", "old.spk")
    run("convert", "demo.data", "-o", "new.spk")
    (folder / "base").mkdir()
    shutil.copy(folder / "old.spk", folder / "base/000001-one-0123456789abcdef.spk")
    run("convert", "jit.data", "-o", "jit.spk")
    run("convert", "--unwind", "dumps.data", "--symbols", "here", "-o", "framed.spk")
    run("collect", "dumps.data", "--symbols", "here", "-o", "bundle.zip")


def spellings(folder, victim):
    """Ways to name a file, each with the descriptor that it needs open, if any."""
    path = folder / victim
    yield victim, None
    yield str(path), None
    yield f"./here/..//{victim}", None
    yield f"/proc/self/cwd/{victim}", None
    for name, make in (("link", os.symlink), ("hard", os.link)):
        make(path, folder / name)
        yield name, None
        os.unlink(folder / name)
    os.symlink(folder, folder / "again")
    yield f"again/{victim}", None
    os.unlink(folder / "again")
    for place in ("/proc/self/fd", "/dev/fd"):
        descriptor = os.open(path, os.O_RDONLY)
        yield f"{place}/{descriptor}", descriptor
        os.close(descriptor)
    with open(path, "ab") as out:
        yield "-", out


def state_of(path):
    status = path.stat()
    return path.read_bytes(), status.st_ino, status.st_mtime_ns


def problems_of(program, folder, line, victim, force):
    before, problems = state_of(folder / victim), []
    for spelled, needed in spellings(folder, victim):
        words = line.split()
        place = next(i for i, word in enumerate(words) if word.startswith("OUT"))
        inside = words[place].partition("/")[2]
        if inside:  # an output in a folder, where a link to the file waits
            if spelled in ("-", victim) or needed is not None:
                continue
            shutil.rmtree(folder / "folder", ignore_errors=True)
            (folder / "folder").mkdir()
            make = os.link if spelled == "hard" else os.symlink
            make(folder / victim, folder / "folder" / inside)
        words[place] = "folder" if inside else spelled
        words += ["--force"] if force else []
        descriptors = {"pass_fds": [needed]} if isinstance(needed, int) else {}
        out = needed if spelled == "-" else subprocess.PIPE
        run = subprocess.run([program, *words], cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60,
                             **descriptors)
        if state_of(folder / victim)[:2] != before[:2]:
            problems.append(f"{' '.join(words)}: has written to {victim}, which it reads")
            return problems
        said = any(refusal in run.stderr for refusal in REFUSALS) or (not force and "option force" in run.stderr)
        if run.returncode != 1 or not said:
            problems.append(f"{' '.join(words)}: status {run.returncode}, says {run.stderr!r}")
    return problems


def works_elsewhere(program, folder, line):
    words = ["elsewhere" if word.startswith("OUT") else word for word in line.split()]
    run = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    shutil.rmtree(folder / "elsewhere", ignore_errors=True) if (folder / "elsewhere").is_dir() else \
        (folder / "elsewhere").unlink(missing_ok=True)
    return [] if run.returncode == 0 else [f"{' '.join(words)}: status {run.returncode}, says {run.stderr!r}"]


def main():
    program, source = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    problems = missing_cases(program)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        os.environ.update(HOME=place, TMPDIR=place)
        make_files(program, source, folder)
        tried = 0
        for cases in CASES.values():
            for line, victim in cases:
                problems += works_elsewhere(program, folder, line)
                for force in (True, False):
                    problems += problems_of(program, folder, line, victim, force)
                    tried += 1
    print("\n".join(problems) or f"{tried} command lines keep what they read")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

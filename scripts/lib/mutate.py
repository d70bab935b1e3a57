"""The work of scripts/mutate: mutate.py ROOT [OPTIONS]; see there.

A list of breaks (tests/breaks/*.txt) has paragraphs. A paragraph of one line names a file of src/ by its name
alone, which is unique; the others are breaks in it:

    - what stands there      a whole expression, or statements (they have a `;`); it occurs once,
    + what shall stand there any white space matches any other. Further lines are indented by two. No line with
                             `+`: the statement is left out.
    # a remark, for a reader

In the copy of the tree an expression becomes `(on<ID>() ? broken : original)`, statements become `if (on<ID>())
{broken} else {original}`. STACKPACK_BREAK=ID in the environment of a test chooses the break. First every test runs
without a break and notes which breaks it comes across; a break is then tried with those tests alone, first those that
are likeliest to notice it for their time.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SWITCH = """#pragma once
#include <cstdlib>
#include <type_traits>
#ifndef _WIN32
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
namespace stackpack_breaks {
inline const unsigned long chosen = [] {
  const char* const text = std::getenv("STACKPACK_BREAK");
  return text == nullptr ? 0 : std::strtoul(text, nullptr, 16);
}();
#ifndef _WIN32
// A file that all processes of a test share: those that must not open one, and those that crash, note what they reach, too.
inline unsigned char* const reached = [] {
  const char* const name = std::getenv("STACKPACK_BREAKS_REACHED");
  const int file = name == nullptr ? -1 : ::open(name, O_RDWR | O_CLOEXEC);
  void* const map = file < 0 ? MAP_FAILED : ::mmap(nullptr, PLACES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) {
    ::close(file);
  }
  return map == MAP_FAILED ? nullptr : static_cast<unsigned char*>(map);
}();
#endif
template <unsigned long kId>
bool on() {
#ifndef _WIN32
  if (reached != nullptr) {
    reached[kId % PLACES] = 1;
  }
#endif
  return kId == chosen;
}
}  // namespace stackpack_breaks
""".replace("PLACES", str(1 << 20))

PLACES = 1 << 20  # of the file of breaks that were reached; two that share a place are both taken for reached
SWITCH_NAME = "break_switch.h"
Break = collections.namedtuple("Break", "file old new id layer line")
# `folder` and `environment` are what CTest gives the command; with `fails` in its output it fails, whatever its status.
Test = collections.namedtuple("Test", "name command layer folder environment fails", defaults=(None, {}, None))
# `late`: stopped, because it took longer than its limit; `cost`: seconds of processor time, which other work of the machine leaves as they are.
Run = collections.namedtuple("Run", "passes seconds late cost")
Survey = collections.namedtuple("Survey", "places seconds cost")  # of a test without a break: what it reaches
HANGS = "hangs: "  # before the name of a test that did not fail but took so long twice, as the one that noticed a break


class Unusable(Exception):
    """A list that does not fit the tree."""


def layer_of(path):
    parts = path.parts
    return parts[2] if parts[1] == "formats" else parts[1]


def sides_of(lines):
    """What a paragraph replaces, by what, and whether it has other lines."""
    old, new, side = [], [], None
    for line in lines:
        side = {"- ": old, "+ ": new}.get(line[:2], side if line.startswith("  ") else None)
        if side is None:
            return old, new, True
        side.append(line[2:])
    return old, new, False


def read_breaks(root, lists="tests/breaks"):
    files = {path.name: path.relative_to(root) for path in (root / "src").rglob("*") if path.suffix in (".cc", ".h")}
    breaks, problems, file = [], [], None
    for source in sorted((root / lists).glob("*.txt")):
        for match in re.finditer(r"(?:^(?!\s*$).*\n?)+", source.read_text(), re.MULTILINE):
            lines = [line for line in match[0].splitlines() if not line.startswith("#")]
            where = f"{source.name}:{source.read_text()[:match.start()].count(chr(10)) + 1}"
            old, new, odd = sides_of(lines)
            if not lines:
                continue
            if len(lines) == 1 and not old and not new:
                file = files.get(lines[0].strip())
                if file is None:
                    problems.append(f"{where}: no file {lines[0].strip()} in src")
            elif not old or odd:
                problems.append(f"{where}: neither a file nor a break")
            elif file is not None:
                text = f"{file.name}\n{old}\n{new}"
                breaks.append(Break(file, "\n".join(old), "\n".join(new),
                                    hashlib.sha256(text.encode()).hexdigest()[:8], layer_of(file), where))
    for id_, count in collections.Counter(b.id for b in breaks).items():
        if count > 1:
            problems.append(f"break {id_} is listed {count} times")
    if problems:
        raise Unusable("\n".join(problems))
    return breaks


def place_of(text, old):
    """Begin and end of the one place where `old` stands."""
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    if re.match(r"\w", old):
        pattern = r"(?<![\w.>:])" + pattern
    if re.search(r"\w$", old):
        pattern += r"(?!\w)"
    found = list(re.finditer(pattern, text))
    return found[0].span() if len(found) == 1 else len(found)


def with_switches(text, breaks):
    """The text of a file with all its breaks, and what is wrong with them."""
    places, problems = [], []
    for b in breaks:
        place = place_of(text, b.old)
        if isinstance(place, int):
            problems.append(f"{b.line}: stands {place} times in {b.file}: {b.old.splitlines()[0]}")
        else:
            places.append((*place, b))
    places.sort()
    for (_, end, a), (begin, _, b) in zip(places, places[1:]):
        if begin < end:
            problems.append(f"{b.line}: overlaps {a.line}")
    for begin, end, b in reversed(places):
        old, on = text[begin:end], f"::stackpack_breaks::on<0x{b.id}>()"
        if ";" in b.old:
            changed = f"if ({on}) {{ {b.new} }} else {{ {old} }}"
        else:
            changed = (f"({on} ? static_cast<::std::remove_cvref_t<decltype({old})>>({b.new}) : "
                       f"static_cast<::std::remove_cvref_t<decltype({old})>>({old}))")
        text = text[:begin] + changed + text[end:]
    return f'#include "{SWITCH_NAME}"\n#line 1\n{text}', problems


def broken_files(root, breaks):
    by_file, texts, problems = collections.defaultdict(list), {}, []
    for b in breaks:
        by_file[b.file].append(b)
    for file, of_file in sorted(by_file.items()):
        texts[file], wrong = with_switches((root / file).read_text(), of_file)
        problems += wrong
    if problems:
        raise Unusable("\n".join(problems))
    return texts


def write_if_changed(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree(root, tree, texts):
    """Makes `tree` what `root` has, with these texts; files that stay as they are keep their times, and `tree`/build is left alone."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, stdout=subprocess.PIPE).stdout
    names = {pathlib.Path(os.fsdecode(name)) for name in listed.split(b"\0") if name}
    names = {name for name in names if (root / name).is_file()}
    for place in [place for place in tree.glob("*") if place.name != "build"]:
        for path in [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]:
            if path.relative_to(tree) not in names | texts.keys():
                path.unlink()
    for name in names | texts.keys():
        write_if_changed(tree / name, texts[name].encode() if name in texts else (root / name).read_bytes())
        if name in names:
            shutil.copymode(root / name, tree / name)


def build(work, tree, jobs):
    folder = work / "build"
    write_if_changed(work / "include" / SWITCH_NAME, SWITCH.encode())
    log = work / "build.log"
    with open(log, "w") as out:
        if not (folder / "build.ninja").exists():
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            subprocess.run(["cmake", "-S", str(tree), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                            f"-DCMAKE_CXX_FLAGS=-O1 -w -I{work}/include", "-DCMAKE_CXX_FLAGS_DEBUG=",
                            "-DSTACKPACK_WERROR=OFF", "-DSTACKPACK_UNITE=OFF", *launcher], check=True, stdout=out, stderr=out)
        done = subprocess.run(["cmake", "--build", str(folder), "--target", "stackpack_tests", "stackpack_cli", "--",
                               f"-j{jobs}", "-k0"], stdout=out, stderr=out)
    if done.returncode != 0:
        errors = [line for line in log.read_text().splitlines() if "error:" in line]
        raise Unusable("the build with the breaks fails:\n" + "\n".join(errors[:20]) + f"\nsee {log}")
    return folder


def tests_of(root, tree, folder, capture_folder):
    """Everything that is run: name, command, and the layer of a file of unit tests."""
    unit, program = str(folder / "tests/stackpack_tests"), str(folder / "src/cli/stackpack")
    tests = tree / "tests"
    for file in sorted(tests.rglob("*_test.cc")):
        path = file.relative_to(tests)
        layer = path.parts[1] if path.parts[0] == "formats" else path.parts[0]
        yield Test(str(path), [unit, "--abort-after=1", f"--source-file=*/tests/{path}"], layer)
    for case in sorted((tests / "cli/cases").glob("*.sh")):
        yield Test(f"cli.{case.stem}", [str(tests / "cli/golden_test.sh"), program, str(case)], "cli")
    for name in ("privacy", "terminal"):
        if (tests / f"cli/{name}_test.py").exists():
            yield Test(f"cli.{name}", [sys.executable, "-B", str(tests / f"cli/{name}_test.py"), program], "cli")
    yield Test("independent_reader", [str(tests / "spk/independent_reader_test.sh"), program, str(tree)], "")
    yield Test("perf_script", [sys.executable, "-B", str(tests / "differential/perf_script_test.py"), program,
                               str(tree / "testdata")], "")
    if capture_folder:
        yield Test("corpus", [sys.executable, "-B", str(tests / "corpus/corpus_test.py"), program,
                              str(tests / "corpus/manifest.txt")], "")


def wait_for(child, limit):
    """Status and seconds of processor time of a child and its children; no status when it takes longer than `limit` seconds."""
    end, pause = math.inf if limit is None else time.time() + limit, 0.002
    while True:
        ended, status, used = os.wait4(child.pid, os.WNOHANG)
        if ended:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, used.ru_utime + used.ru_stime
        if time.time() > end:
            return None, limit
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def run(test, limit, **variables):
    environment = {**os.environ, "LC_ALL": "C", **test.environment, **variables}
    begin = time.time()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(test.command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=output, start_new_session=True)
        try:
            status, cost = wait_for(child, limit)
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
        passes = status in (0, 77)
        if passes and test.fails:
            output.seek(0)
            passes = re.search(test.fails, output.read().decode(errors="replace")) is None
    return Run(passes, time.time() - begin, status is None, cost)


def survey(tests, work, pool, limit=None):
    """What each test reaches, and how long it takes. All of them pass without a break; with a limit, in seconds of processor time, those
    that do not are left out."""
    folder = work / "reached"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()

    def reach(numbered):
        number, test = numbered
        file = folder / str(number)
        with open(file, "wb") as out:
            out.truncate(PLACES)
        # On a busy machine a test takes several times as long as its processor time.
        passes, seconds, late, cost = run(test, limit and 5 * limit, STACKPACK_BREAKS_REACHED=str(file))
        late = late or limit is not None and cost > limit
        places = {match.start() for match in re.finditer(b"\1", file.read_bytes())}
        file.unlink()
        if not passes and limit is None:
            raise Unusable(f"without any break, this fails: {test.name}")
        if not passes or late:
            print(f"left out, {'slow' if late else 'fails without any break'}: {test.name}", flush=True)
            return None
        return Survey(places, seconds, cost)

    surveyed = zip((test.name for test in tests), pool.map(reach, enumerate(tests)))
    return {name: found for name, found in surveyed if found is not None}


def fate_of(test, usual, b):
    """"" when a test passes with a break, its name when it fails, HANGS before it when it takes more than ten times its usual seconds.

    Both have to happen twice in a row, so that neither other work of the machine nor a test that fails now and then is taken for it.
    """
    broken = {"STACKPACK_BREAK": b.id, "STACKPACK_DIFFERENCES": "1"}  # the first difference is enough
    runs = [run(test, 20 + 10 * usual, **broken)]
    if not runs[0].passes:
        runs.append(run(test, 20 + 10 * usual, **broken))
    if any(one.passes for one in runs):
        return ""
    return (HANGS if any(one.late for one in runs) else "") + test.name


class Experience:
    """Which tests are worth their time: by what they are, and by what they have noticed so far."""

    PRIOR_TRIES = 3

    def __init__(self, surveyed):
        self.surveyed, self.figures = surveyed, collections.defaultdict(lambda: [0, 0])
        self.places = len(set().union(*(one.places for one in surveyed.values()))) if surveyed else 1

    def worth(self, test, b):
        """Chance to notice a break for a second of processor time."""
        found = self.surveyed[test.name]
        kind = 0.3 if ".answers_" in test.name else 0.4 if test.layer == b.layer and not test.name.startswith("cli.") else 0.1
        # Who comes across few other breaks is likelier to be for this one.
        prior = kind / math.sqrt(0.02 + len(found.places) / max(self.places, 1))
        tried, noticed = self.figures[test.name]
        return (noticed + self.PRIOR_TRIES * prior) / (tried + self.PRIOR_TRIES) / (0.05 + found.cost)

    def learn(self, test, noticed):
        self.figures[test.name][0] += 1
        self.figures[test.name][1] += noticed


def noticed_by(tests, surveyed, b, patience=math.inf, experience=None):
    """The first test that fails or hangs with the break; None when no test reaches it, "" when all pass, as far as they take `patience`
    seconds of processor time."""
    place = int(b.id, 16) % PLACES
    experience = experience or Experience(surveyed)
    reaching = [test for test in tests if test.name in surveyed and place in surveyed[test.name].places]
    reaching.sort(key=lambda test: -experience.worth(test, b))
    for test in reaching:
        patience -= surveyed[test.name].cost
        if patience < 0:
            break
        fate = fate_of(test, surveyed[test.name].seconds, b)
        experience.learn(test, fate != "")
        if fate:
            return fate
    return "" if reaching else None


def read_results(path):
    results = {}
    if path.exists():
        for line in path.read_text().splitlines():
            id_, by = line.split("\t")
            results[id_] = by
    return results


def report(breaks, results):
    figures = collections.defaultdict(lambda: [0, 0])
    for b in breaks:
        if b.id in results:
            figures[b.layer][0] += 1
            figures[b.layer][1] += 1 if results[b.id] else 0
    print("| Layer | Breaks | Noticed |\n|---|---|---|")
    for layer in sorted(figures):
        print(f"| {layer} | {figures[layer][0]} | {figures[layer][1]} |")
    tried, noticed = (sum(f[i] for f in figures.values()) for i in (0, 1))
    print(f"| all | {tried} | {noticed}, {100 * noticed / max(tried, 1):.1f} % |")
    survivors = [b for b in breaks if results.get(b.id) == ""]
    for b in survivors:
        print(f"survives: {b.id} {b.line} {b.file}\n  - {b.old}\n  + {b.new}")
    untried = sum(1 for b in breaks if b.id not in results)
    if untried:
        print(f"{untried} not tried")
    return len(survivors)


def main():
    parser = argparse.ArgumentParser(prog="scripts/mutate", add_help=False)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--layer", action="append")
    parser.add_argument("--only", action="append")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    root = options.root
    breaks = read_breaks(root)
    texts = broken_files(root, breaks)
    print(f"{len(breaks)} breaks in {len(texts)} files", flush=True)
    if options.check:
        return 0
    work = root / "build/mutate"
    results_path = work / "results.tsv"
    work.mkdir(parents=True, exist_ok=True)
    results = read_results(results_path)
    chosen = [b for b in breaks if (not options.layer or b.layer in options.layer) and
              (not options.only or b.id in options.only)]
    if options.report:
        report(chosen, results)
        return 0
    todo = [b for b in chosen if options.again or options.only or b.id not in results]
    capture_folder = os.environ.get("STACKPACK_CORPUS")
    if todo:
        tree = work / "tree"
        copy_tree(root, tree, texts)
        folder = build(work, tree, options.jobs)
        tests = list(tests_of(root, tree, folder, capture_folder))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            surveyed = survey(tests, work, pool)
            begin, experience = time.time(), Experience(surveyed)
            runs = {pool.submit(noticed_by, tests, surveyed, b, experience=experience): b for b in todo}
            for done, future in enumerate(concurrent.futures.as_completed(runs), 1):
                b, by = runs[future], future.result()
                results[b.id] = by or ""
                with open(results_path, "a") as out:
                    out.write(f"{b.id}\t{by or ''}\n")
                fate = f"noticed by {by}" if by else "SURVIVES" if by == "" else "SURVIVES, no test comes there"
                print(f"{done}/{len(todo)} {time.time() - begin:.0f} s {b.id} {b.file}: {fate}", flush=True)
    return 3 if report(chosen, results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unusable as error:
        sys.exit(f"mutate: {error}")

"""The work of scripts/mutate --sample: mutate_sample.py ROOT N [OPTIONS]; see there.

Nobody chooses these breaks: break_operators.py makes every one that it knows of, in all of src, and a seed draws lines of code,
and of each line one break. A break that does not compile is none, and the next one that was drawn takes its place. They are built
and tried as those of the list are (mutate.py).
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import break_operators
import mutate

Drawn = collections.namedtuple("Drawn", "file place old id layer first_line last_line")
WIDTH = 1.96  # of a normal distribution, for 95 %
ELSEWHERE = ("src/io/windows/",)  # not part of this build


def draw(root, seed, layers):
    """Every line that can be broken, in random order, with one break of it. Nothing overlaps."""
    by_line = {}
    for path in sorted((root / "src").rglob("*")):
        file = path.relative_to(root)
        if path.suffix not in (".cc", ".h") or str(file).startswith(ELSEWHERE) or (
                layers and mutate.layer_of(file) not in layers):
            continue
        text = path.read_text()
        for place in break_operators.places_of(text):
            by_line.setdefault((file, place.line), []).append((place, text[place.begin:place.end]))
    generator = random.Random(seed)
    lines = sorted(by_line)
    generator.shuffle(lines)
    taken, drawn = collections.defaultdict(set), []
    for file, line in lines:
        place, old = generator.choice(by_line[file, line])
        span = range(line, line + old.count("\n") + 1)
        if taken[file].isdisjoint(span):
            taken[file].update(span)
            text = f"{file}\n{line}\n{place.begin}\n{old}\n{place.new}"
            drawn.append(Drawn(file, place, old, hashlib.sha256(text.encode()).hexdigest()[:8], mutate.layer_of(file),
                               span[0], span[-1]))
    return drawn


def with_switches(text, drawn):
    """The text with these breaks, each on the first line of what it replaces, so that compilers count lines as before."""
    for b in sorted(drawn, key=lambda b: -b.place.begin):
        on, old, new = f"::stackpack_breaks::on<0x{b.id}>()", b.old, b.place.new
        if b.place.kind == "early":
            changed = f" if ({on}) {{ {new} }} "
        elif b.place.statement:
            changed = f"if ({on}) {{ {new} }} else {{ {old} }}"
        elif b.place.kind in ("condition", "not"):  # a bool may become a Result of a number, which is true
            changed = f"({on} ? static_cast<bool>({new}) : static_cast<bool>({old}))"
        else:
            changed = f"({on} ? ({new}) : ({old}))"
        text = text[:b.place.begin] + changed + text[b.place.end:]
    return f'#include "{mutate.SWITCH_NAME}"\n#line 1\n{text}'


def texts_of(root, chosen):
    by_file = collections.defaultdict(list)
    for b in chosen:
        by_file[b.file].append(b)
    texts = {file: with_switches((root / file).read_text(), of_file) for file, of_file in by_file.items()}
    texts[pathlib.Path("src") / mutate.SWITCH_NAME] = mutate.SWITCH
    return texts


def configure(tree, log):
    folder = tree / "build/dev"
    if not (folder / "build.ninja").exists():
        # Breaks are in most units and headers: a compiler cache is no use, and compiled headers and large units are.
        options = ["-DCMAKE_CXX_COMPILER_LAUNCHER=", "-DSTACKPACK_UNITED_BYTES=250000"]
        options += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"] if shutil.which("mold") else []
        subprocess.run(["cmake", "-S", str(tree), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                        "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1", "-DSTACKPACK_BENCH=OFF", *options],
                       check=True, stdout=log, stderr=log)
    return folder


def do_not_compile(output, chosen):
    """Of the chosen breaks those that a failed build complains of."""
    by_file = collections.defaultdict(list)
    for b in chosen:
        by_file[str(b.file)].append(b)

    def named(lines):
        for file, line in re.findall(r"(src/[\w./-]+):(\d+)", "\n".join(lines)):
            for b in by_file.get(file, ()):
                if b.first_line <= int(line) <= b.last_line:
                    yield b

    bad = set()
    for failed in re.split(r"^FAILED: ", output, flags=re.MULTILINE)[1:]:
        lines = failed.splitlines()
        found = set(named([line for line in lines if " error: " in line])) or set(named(lines))
        if not found:
            found = {b for file in re.findall(r"src/[\w./-]+", failed) for b in by_file.get(file, ())}
        bad |= found
    return bad


def refused(tree, file, chosen):
    """Breaks of a header that its compiler complains of: soon seen, and without all that includes it."""
    done = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-w", "-x", "c++", "-I", "src", "-I", "include", "-I",
                           "build/dev/include", str(file)], cwd=tree, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return do_not_compile(f"FAILED: {done.stdout}", chosen) if " error: " in done.stdout else set()


def parts_of_tests(folder):
    """What tests that run the program need beside it."""
    parts = {part for test in program_tests(folder) for part in test.command if part.startswith(f"{folder}/tests/")}
    return sorted(os.path.basename(part).removesuffix(".so") for part in parts)


def build(root, work, drawn, count, jobs, known_bad):
    """The first `count` drawn breaks that compile, and the folder of their build. Those that do not are kept in a file."""
    tree, dropped, seen = work / "tree", set(known_bad.read_text().split() if known_bad.exists() else []), set()
    (tree / "build").mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_COMPILER_LAUNCHER")}

    def drop(bad):
        dropped.update(b.id for b in bad)
        known_bad.write_text("".join(f"{id_}\n" for id_ in sorted(dropped)))
        print(f"{len(bad)} of {count} breaks do not compile", flush=True)

    while True:
        chosen = [b for b in drawn if b.id not in dropped][:count]
        mutate.copy_tree(root, tree, texts_of(root, chosen))
        with open(work / "build.log", "w") as log:
            folder = configure(tree, log)
        fresh = {b.file for b in chosen if b.id not in seen and b.file.suffix == ".h"}
        seen |= {b.id for b in chosen}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            bad = set().union(*pool.map(lambda file: refused(tree, file, chosen), sorted(fresh)))
        if bad:
            drop(bad)
            continue
        targets = ["stackpack_tests", "stackpack_cli", *parts_of_tests(folder)]
        done = subprocess.run(["cmake", "--build", str(folder), "--target", *targets, "--", f"-j{jobs}", "-k0"], env=environment, check=False,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with open(work / "build.log", "a") as log:
            log.write(done.stdout)
        if done.returncode == 0:
            return chosen, folder
        bad = do_not_compile(done.stdout, chosen)
        if not bad:
            raise mutate.Unusable(f"the build with the breaks fails: see {work / 'build.log'}")
        drop(bad)


def program_tests(folder):
    """The tests of CTest that run the program, but for unit tests and transcripts, which mutate.tests_of has."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], check=True, text=True,
                                       stdout=subprocess.PIPE).stdout)
    program = str(folder / "src/cli/stackpack")
    for test in listed["tests"]:
        command = test.get("command", [])
        if program not in command or any(part.endswith("golden_test.sh") for part in command):
            continue
        properties = {one["name"]: one["value"] for one in test["properties"]}
        environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        yield mutate.Test(test["name"], command, test["name"].split(".")[0], properties.get("WORKING_DIRECTORY"), environment,
                          "|".join(properties.get("FAIL_REGULAR_EXPRESSION", [])) or None)


def script_of(test):
    """What a test runs, and with what, whoever interprets it."""
    begin = next((i for i, part in enumerate(test.command) if part.endswith((".py", ".sh"))), 0)
    return test.command[begin:]


def tests_of(root, tree, folder):
    """The unit tests, file by file, the transcripts, and what else runs the program."""
    tests = [test for test in mutate.tests_of(root, tree, folder, None)]
    known = [script_of(test) for test in tests]
    return tests + [test for test in program_tests(folder) if script_of(test) not in known]


def survey(tests, work, pool, limit, known_path):
    """As mutate.survey, but for tests that are as they were when these breaks were last surveyed."""
    def key(test):
        digest = hashlib.sha256(" ".join(test.command).encode())
        for part in test.command[1:]:
            name = part.replace("--source-file=*", str(work / "tree")).removesuffix("*")
            if os.path.isfile(name) and "/build/" not in name.removeprefix(str(work)):
                digest.update(pathlib.Path(name).read_bytes())
        return f"{test.name} {digest.hexdigest()[:16]}"

    known = json.loads(known_path.read_text()) if known_path.exists() else {}
    keys = {test.name: key(test) for test in tests}
    fresh = mutate.survey([test for test in tests if keys[test.name] not in known], work, pool, limit)
    for name, one in keys.items():
        if one not in known:
            known[one] = [sorted(fresh[name].places), *fresh[name][1:]] if name in fresh else None
    known_path.write_text(json.dumps(known))
    return {name: mutate.Survey(set(known[one][0]), *known[one][1:]) for name, one in keys.items() if known[one] is not None}


def interval(noticed, tried):
    """Wilson's interval for a share, in percent."""
    if tried == 0:
        return 0.0, 100.0
    share, z2 = noticed / tried, WIDTH * WIDTH
    middle = share + z2 / (2 * tried)
    reach = WIDTH * math.sqrt(share * (1 - share) / tried + z2 / (4 * tried * tried))
    return tuple(100 * (middle + side * reach) / (1 + z2 / tried) for side in (-1, 1))


def described(b):
    old = " ".join(b.old.split())
    return f"{b.id} {b.file}:{b.place.line} {b.place.kind}: {old or '(nothing)'} -> {b.place.new or '(nothing)'}"


def share(noticed, tried):
    low, high = interval(noticed, tried)
    return f"{noticed}, {100 * noticed / max(tried, 1):.1f} % | {low:.1f} to {high:.1f} %"


def report(chosen, results, seed, commit):
    figures = collections.defaultdict(lambda: [0, 0])
    for b in chosen:
        if b.id in results:
            for key in (b.layer, "all"):
                figures[key][0] += 1
                figures[key][1] += results[b.id] != ""
    print(f"\n{seed}, commit {commit}\n\n| Room | Breaks | Noticed | 95 % interval |\n|---|---|---|---|")
    for layer in sorted(figures, key=lambda layer: (layer == "all", layer)):
        tried, noticed = figures[layer]
        print(f"| {layer} | {tried} | {share(noticed, tried)} |")
    for b in chosen:
        if results.get(b.id) == "":
            print(f"unnoticed: {described(b)}")
    hanging = [b for b in chosen if results.get(b.id, "").startswith(mutate.HANGS)]
    for b in hanging:
        print(f"{results[b.id]}: {described(b)}")
    print(f"{len(hanging)} of the noticed ones make a test hang; without them: " + share(figures["all"][1] - len(hanging), figures["all"][0]))
    return sum(results.get(b.id) == "" for b in chosen)


def main():
    parser = argparse.ArgumentParser(prog="scripts/mutate --sample", add_help=False)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--layer", action="append")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--patience", type=float, default=math.inf)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", default="")
    parser.add_argument("--pool", type=int)
    parser.add_argument("--order", type=int)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--tried", type=pathlib.Path)
    options = parser.parse_args()
    root = options.root
    seed = int.from_bytes(os.urandom(4), "big") if options.seed is None else options.seed
    commit = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    sources = subprocess.run(["git", "-C", str(root), "rev-parse", "--short", "HEAD:src"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    drawn = draw(root, seed, options.layer)
    print(f"seed {seed}: {options.count} of {len(drawn)} lines that can be broken", flush=True)
    if options.check:
        for b in drawn[:options.count]:
            print(described(b))
        return 0
    work = root / "build/mutate-sample"
    work.mkdir(parents=True, exist_ok=True)
    # Of a pool those that do not compile are missing, and no others take their places: an order that is drawn later needs no new build.
    pooled = drawn if options.pool is None else drawn[:options.pool]
    chosen, folder = build(root, work, pooled, options.pool or options.count, options.jobs, work / f"{sources}-{seed}.bad")
    tried = mutate.read_results(options.tried) if options.tried else {}
    known = set(drawn[:options.skip])
    chosen = [b for b in chosen if b not in known and b.id not in tried]
    if options.order is not None:
        random.Random(options.order).shuffle(chosen)
    chosen = chosen[:options.count]
    results_path = work / f"{commit}-{seed}.tsv"
    results = mutate.read_results(results_path)
    tests = [test for test in tests_of(root, work / "tree", folder) if re.search(options.tests, test.name)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        surveyed = survey(tests, work, pool, options.limit, work / f"{sources}-{seed}-{len(pooled)}.reached")
        begin, experience = time.time(), mutate.Experience(surveyed)
        runs = {pool.submit(mutate.noticed_by, tests, surveyed, b, options.patience, experience): b for b in chosen if not results.get(b.id)}
        for done, future in enumerate(concurrent.futures.as_completed(runs), 1):
            b, by = runs[future], future.result()
            results[b.id] = by or ""
            with open(results_path, "a") as out:
                out.write(f"{b.id}\t{by or ''}\n")
            fate = f"noticed by {by}" if by else "UNNOTICED" if by == "" else "UNNOTICED, no test comes there"
            print(f"{done}/{len(runs)} {time.time() - begin:.0f} s {described(b)}: {fate}", flush=True)
    named = f"seed {seed}"
    if options.order is not None:
        named += f", without the first {options.skip} of {options.pool} and {len(tried)} tried before, in the order of seed {options.order}"
    return 3 if report(chosen, results, named, commit) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except mutate.Unusable as error:
        sys.exit(f"mutate: {error}")

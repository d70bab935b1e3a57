#!/usr/bin/env python3
"""Runs the steps of action.yml and of the component for GitLab, as they are written: ci_components_test.py PROGRAM SOURCE_DIR

What surrounds them is played: inputs and expressions are filled in, `gh` keeps the comment, `curl` serves one program.
Captures are profiles of a program with five functions. In order, for each: with `baseline: none` nothing is compared, no
change passes, a change of `parse` fails with status 3 and is in the comment, and passes under a condition that allows it.
Then with a gate's file and a folder of baselines: the first run has none, as docs/ci.md has it; two commits are added, a
change passes, one of `parse` fails and is not added; a baseline of one run, and what it cannot decide. Then every way to name a program, of which none runs before its digest
was found right, and every way to name a baseline, of which none that is not there passes. 77: no PyYAML.
"""
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    # Debian's own Python has it, where another one comes first.
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3") and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("skipped: no PyYAML (python3-yaml)")
    sys.exit(77)

GH = '#!/bin/sh\necho "$@" | grep -q edit-last && exit 1\ncp "$(echo "$@" | sed "s/.*--body-file //; s/ .*//")" "$POSTED"\n'
CURL = """#!/bin/sh
case " $* " in *" --proto =https "*" https://downloads.example/stackpack "*) ;; *) echo "curl $*" >&2; exit 2 ;; esac
while [ "$1" != --output ]; do shift; done
cat "$SERVED" > "$2"
"""
# A program that is run leaves a trace.
TRACED = '#!/bin/sh\necho ran >> "{trace}"\nexec "{program}" "$@"\n'
STRICT = "self share +1pp"
UNSEEN = "self share +0.1pp"
LAX = "self share +40pp"


def write_captures(folder, parse, seed, runs):
    """Captures: folded text, which convert reads like any other."""
    folder.mkdir(parents=True)
    shares = {"parse": parse, "render": 0.3, "idle": 0.1, "load": 0.2, "store": 0.15}
    for run in range(runs):
        picks = random.Random(f"{seed}/{run}").choices(list(shares), list(shares.values()), k=4000)
        text = "".join(f"main;{name} {picks.count(name)}\n" for name in shares)
        (folder / f"{run}.folded").write_text(text, encoding="utf-8")


def shell(text, work, environment):
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text], cwd=work, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Place:
    """Where one run of a pipeline works, with the tools that it calls."""

    def __init__(self, folder, program, parse, seed, baseline, runs=5):
        self.work = folder / f"run{seed}"
        self.program = program
        write_captures(self.work / "captures", parse, seed, runs)
        if baseline is not None:
            subprocess.run(["cp", "-r", baseline, self.work / "baseline"], check=True)
        tools = self.work / "tools"
        tools.mkdir()
        self.trace = self.work / "trace"
        self.write_program(self.work / "traced", program)
        # What is called stackpack in PATH is another project's.
        self.write_program(tools / "stackpack", "/bin/false")
        for name, text in (("gh", GH), ("curl", CURL)):
            (tools / name).write_text(text, encoding="utf-8")
            (tools / name).chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", POSTED=str(self.work / "posted.md"),
                                SERVED=str(self.work / "traced"))

    def write_program(self, path, program):
        path.write_text(TRACED.format(trace=self.trace, program=program), encoding="utf-8")
        path.chmod(0o755)

    def runs(self):
        return self.work / "stackpack-out" / "runs"


class Action:
    """action.yml, as a runner carries it out."""

    name = "action"

    def __init__(self, source):
        self.action = yaml.safe_load((source / "action.yml").read_text(encoding="utf-8"))

    def run(self, place, conditions, more=()):
        given = {"captures": "captures/*.folded", "baseline": "baseline/*.spk", "fail-if": conditions, "comment": "true",
                 "program": str(place.program), "symbolize": "false"} | dict(more)
        inputs = {name: given.get(name, rule.get("default", "")) for name, rule in self.action["inputs"].items()}
        outputs, status, everything = {}, 0, ""

        def value(match):
            kind, _, rest = match[1].partition(".")
            if kind == "inputs":
                return inputs[rest]
            if kind == "steps":
                step, name = rest.split(".outputs.")
                return outputs[step][name]
            return {"github.event.number": "7", "github.token": "none", "github.sha": "none"}[match[1]]

        for step in self.action["runs"]["steps"]:
            if "uses" in step or step["id"] == "add" and (not inputs["add-baseline"] or outputs["compare"]["status"] != "0"):
                continue
            kept = place.work / f"{step['id']}.output"
            kept.touch()
            environment = dict(place.environment, GITHUB_OUTPUT=str(kept), RUNNER_TEMP=str(place.work),
                               GITHUB_STEP_SUMMARY=str(place.work / "summary.md"))
            for name, text in step.get("env", {}).items():
                environment[name] = re.sub(r"\$\{\{ *([^ }]+) *\}\}", value, text)
            if "${{" in step["run"]:
                raise ValueError(f"{step['id']}: an expression inside a shell text")
            status, said = shell(step["run"], place.work, environment)
            outputs[step["id"]] = dict(line.split("=", 1) for line in kept.read_text(encoding="utf-8").splitlines())
            everything += said
            if status:
                break
        posted = place.work / "posted.md"
        return status, posted.read_text(encoding="utf-8") if posted.exists() else "", everything


class Component:
    """The component of GitLab: one job, whose lines are one script."""

    name = "component"

    def __init__(self, source):
        text = (source / "templates/profile/template.yml").read_text(encoding="utf-8")
        self.spec, self.jobs = text.split("\n---\n")

    def run(self, place, conditions, more=()):
        given = {"captures": "captures/*.folded", "baseline": "baseline/*.spk", "fail-if": conditions.replace("\n", "; "),
                 "program": str(place.program)} | dict(more)
        inputs = {name: given.get(name, (rule or {}).get("default"))
                  for name, rule in yaml.safe_load(self.spec)["spec"]["inputs"].items()}
        jobs = yaml.safe_load(re.sub(r"\$\[\[ inputs\.([a-z0-9-]+) \]\]", lambda match: inputs[match[1]], self.jobs))
        job = jobs[inputs["job"]]
        environment = dict(place.environment, **job["variables"], CI_COMMIT_BRANCH="main", CI_DEFAULT_BRANCH="main",
                           CI_COMMIT_SHORT_SHA=given.get("commit", "none"))
        status, said = shell("\n".join(job["script"]), place.work, environment)
        _, comment = shell("\n".join(job["after_script"]), place.work, environment)
        return status, comment, said


def check(problems, what, good):
    print(("ok    " if good else "WRONG ") + what)
    if not good:
        problems.append(what)


def try_all(system, program, folder, problems):
    name = system.name
    first = Place(folder, program, 0.25, 1, None)
    status, comment, _ = system.run(first, STRICT, {"baseline": "none"})
    check(problems, f"{name}: without a baseline, as was said", status == 0 and "no baseline" in comment)
    check(problems, f"{name}: a database and a page a capture",
          len(list(first.runs().glob("*.spk"))) == 5 and len(list(first.runs().glob("*.html"))) == 5)
    second = Place(folder, program, 0.25, 2, first.runs())
    status, comment, _ = system.run(second, LAX)
    check(problems, f"{name}: no change passes", status == 0 and "no change seen, gate passed" in comment)
    check(problems, f"{name}: the comparison as a page and as JSON",
          all((second.runs().parent / file).exists() for file in ("diff.html", "diff.json")))
    status, comment, _ = system.run(Place(folder, program, 0.33, 3, first.runs()), f"{LAX}\n{STRICT}")
    check(problems, f"{name}: a change of `parse` fails", status == 3 and "**failed**: `parse" in comment)
    status, comment, _ = system.run(Place(folder, program, 0.33, 4, first.runs()), LAX)
    check(problems, f"{name}: and passes where less is asked", status == 0 and "parse" in comment)
    for strict, wanted in (("true", 3), ("false", 0)):
        status, comment, _ = system.run(Place(folder, program, 0.25, 5 + wanted, first.runs()), UNSEEN, {"strict": strict})
        check(problems, f"{name}: what cannot be seen, strict {strict}",
              status == wanted and "gate undecided" in comment and " runs a side would do" in comment)


def try_baselines(system, program, folder, problems, first_baseline):
    """A gate's file that names a folder of baselines, which grows."""
    name, base = system.name, folder / "base"

    def run(parse, seed):
        place = Place(folder, program, parse, seed, None)
        rules = f'fail-if = ["total cost +5%", "self share +1pp"]\nallow = ["render"]\nbaseline = "{base}"\n'
        (place.work / "gate.toml").write_text(rules, encoding="utf-8")
        status, comment, _ = system.run(place, "", {
            "gate": "gate.toml", "baseline": first_baseline(base.exists()), "add-baseline": str(base), "keep-commits": "2",
            "commit": f"c{seed}"})
        kept = sorted(path.name.split("-")[1] for path in base.glob("*.spk"))
        return status, comment, kept

    for seed in (11, 12, 13):
        status, comment, kept = run(0.25, seed)
        wanted = [f"c{one}" for one in (seed - 1, seed) if one > 10 for _ in range(5)]
        check(problems, f"{name}: commit {seed} becomes a baseline", status == 0 and kept == wanted)
    check(problems, f"{name}: compared with both commits", status == 0 and "10 runs before" in comment)
    status, comment, after = run(0.33, 14)
    check(problems, f"{name}: the gate's file fails it, and it becomes none",
          status == 3 and "**failed**: `parse" in comment and after == kept)


def try_growing_baseline(system, program, folder, problems):
    """A baseline that begins with one run decides nothing at first; what is undecided is added, until it is decided."""
    base, seen = folder / "grows", []
    for seed in range(31, 36):
        place = Place(folder, program, 0.25, seed, None, runs=1)
        (place.work / "gate.toml").write_text(f'fail-if = ["total cost +5%"]\nbaseline = "{base}"\n', encoding="utf-8")
        status, comment, _ = system.run(place, "", {"gate": "gate.toml", "baseline": "" if base.exists() else "none",
                                                    "add-baseline": str(base), "commit": f"c{seed}"})
        seen.append((status, "undecided" if "gate undecided" in comment else "passed" if "gate passed" in comment else "none",
                     len(list(base.glob("*.spk")))))
    check(problems, f"{system.name}: a baseline grows from one run: {seen}",
          [one[0] for one in seen] == [0] * 5 and [one[2] for one in seen] == [1, 2, 3, 4, 5] and
          [seen[0][1], seen[1][1], seen[-1][1]] == ["none", "undecided", "passed"])


def first_baseline_of_document(source):
    """The step of docs/ci.md that says what `baseline` is on the main branch."""
    text = (source / "docs/ci.md").read_text(encoding="utf-8")
    step = text[text.index("      id: kept\n"):text.index("    - uses: OWNER/stackpack")]
    step = re.sub(r"^ {8}", "", step.partition("run: |\n")[2], flags=re.M)

    def baseline(kept):
        with tempfile.TemporaryDirectory() as work:
            gh = pathlib.Path(work) / "gh"
            gh.write_text(f'#!/bin/sh\n[ "$1 $2" != "run list" ] || echo {"42" if kept else ""}\n', encoding="utf-8")
            gh.chmod(0o755)
            output = pathlib.Path(work) / "output"
            output.touch()
            shell(step, work, dict(os.environ, PATH=f"{work}:{os.environ['PATH']}", GITHUB_OUTPUT=str(output), GITHUB_REF_NAME="main"))
            return output.read_text(encoding="utf-8").strip().removeprefix("baseline=")

    return baseline


def try_programs(system, program, folder, problems):
    """Only what was named runs, and only when it has the digest that was named."""
    address = "https://downloads.example/stackpack"
    for seed, (what, given, digest, wanted) in enumerate((
            ("no program", "", "", "program is missing"),
            ("a program that is not there", "nothing/stackpack", "", "no file nothing/stackpack"),
            ("a path", "traced", "", None),
            ("a path with its digest", "traced", "good", None),
            ("a path with another digest", "traced", "bad", "has another one"),
            ("an address without a digest", address, "", "sha256 is missing"),
            ("an address with its digest", address, "good", None),
            ("an address with another digest", address, "bad", "has another one"),
            ("an address that is not there", address + "2", "good", "could not be fetched"),
            ("an address without TLS", "http://downloads.example/stackpack", "good", "begins with https"))):
        place = Place(folder, program, 0.25, 100 + seed, None, runs=1)
        good = hashlib.sha256((place.work / "traced").read_bytes()).hexdigest()
        digest = {"good": good.upper(), "bad": good[:-1] + ("0" if good[-1] != "0" else "1")}.get(digest, "")
        status, _, said = system.run(place, "", {"program": given, "sha256": digest, "baseline": "none"})
        ran = place.trace.exists()
        check(problems, f"{system.name}: {what}", (status, ran) == (0, True) if wanted is None else
              (status, ran) == (1, False) and wanted in said)
    place = Place(folder, program, 0.25, 120, None, runs=1)
    (place.work / "stackpack").symlink_to(program)
    status, _, _ = system.run(place, "", {"program": "stackpack", "baseline": "none"})
    check(problems, f"{system.name}: a path that looks like a name of PATH", status == 0 and not place.trace.exists())


def try_names_of_baselines(system, program, folder, problems):
    """What fits nothing is an error, whatever it is; a baseline is missing only where `none` says so."""
    old = Place(folder, program, 0.25, 200, None)
    system.run(old, "", {"baseline": "none"})
    both = "10 runs before"
    for seed, (what, baseline, gate, wanted) in enumerate((
            ("two patterns", "baseline/*.spk 'more of it'/[0-4]*", None, both),
            ("lines of patterns", "baseline/?.folded.spk\n'more of it/*.spk'", None, both),
            ("a folder", "baseline", None, "5 runs before"),
            ("two folders", "baseline 'more of it'", None, both),
            ("only in the gate's file", "", 'baseline = "baseline"', "5 runs before"),
            ("both", "'more of it'", 'baseline = "nothing"', "5 runs before"),
            ("nothing", "", None, "baseline is missing"),
            ("misspelt", "basline/*.spk", None, "nothing is called basline/*.spk"),
            ("one of two misspelt", "baseline/*.spk basline/*.spk", None, "nothing is called basline/*.spk"),
            ("a folder that is not there", "basline", None, "nothing is called basline"),
            ("an empty folder", "empty", None, "empty: no .spk files"),
            ("a quote without end", "'baseline", None, "quote"),
            ("misspelt in the gate's file", "", 'baseline = "basline"', "basline"),
            ("an empty folder in the gate's file", "", 'baseline = "empty"', "empty: no .spk files"),
            ("not in the gate's file either", "", "", "names no `baseline`"))):
        place = Place(folder, program, 0.25, 201 + seed, old.runs(), runs=1)
        subprocess.run(["cp", "-r", old.runs(), place.work / "more of it"], check=True)
        for one in place.work.glob("*/*.html"):
            one.unlink()
        (place.work / "empty").mkdir()
        given = {"baseline": baseline, "strict": "false"}
        if gate is not None:
            (place.work / "gate.toml").write_text(gate + "\n", encoding="utf-8")
            given["gate"] = "gate.toml"
        status, comment, said = system.run(place, "" if gate is not None else LAX, given)
        if "before" in wanted:
            check(problems, f"{system.name}: baseline: {what}", status == 0 and wanted in comment)
        else:
            check(problems, f"{system.name}: baseline: {what}", status not in (0, 3) and wanted in said and "nothing was compared" not in comment)


def main():
    program, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    problems = []
    for system in (Action(source), Component(source)):
        with tempfile.TemporaryDirectory(prefix="ci-") as folder:
            try_all(system, program, pathlib.Path(folder), problems)
            try_baselines(system, program, pathlib.Path(folder), problems, first_baseline_of_document(source))
            try_growing_baseline(system, program, pathlib.Path(folder), problems)
            try_programs(system, program, pathlib.Path(folder), problems)
            try_names_of_baselines(system, program, pathlib.Path(folder), problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

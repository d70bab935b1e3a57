#!/usr/bin/env python3
"""All forms of `diff` say the same, and its JSON is as docs/diff.schema.json describes it.

    diff_forms_test.py PROGRAM SOURCE_DIR

Random profiles, one and several runs a side, several grains: the verdicts of Markdown, table and JSON are compared
row by row, and so are the findings of the gate with the exit status; the interval of each figure leaves 0 out just
where its verdict says so. As a comment for a review, Markdown is 80 columns wide and 4 KiB long at most, and has the
rows of the JSON, under the heading of their verdicts.
"""
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import read_page  # noqa: E402

CHANGES = ("more", "less", "appeared", "disappeared")
UNSURE = "unsure (one run a side)"
LISTED = (*CHANGES, UNSURE)


def validate(value, schema, root, path="$"):
    """The part of JSON Schema that the schema uses."""
    if "$ref" in schema:
        return validate(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    problems = []
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{path}: {value!r} is none of {schema['enum']}")
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    tests = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
             "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
             "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
             "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}
    if kinds and not any(tests[kind](value) for kind in kinds):
        problems.append(f"{path}: {value!r} is no {kinds}")
    elif isinstance(value, dict):
        problems += [f"{path}: no {name}" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            if name not in schema.get("properties", {}):
                problems.append(f"{path}: {name} is not in the schema")
            else:
                problems += validate(part, schema["properties"][name], root, f"{path}.{name}")
    elif isinstance(value, list):
        for i, part in enumerate(value):
            problems += validate(part, schema["items"], root, f"{path}[{i}]")
    if "minimum" in schema and value < schema["minimum"]:
        problems.append(f"{path}: {value} is too small")
    return problems


def profile(seed, path, changed):
    source, shares = random.Random(seed), random.Random(1)
    with open(path, "w") as file:
        for number in range(60):
            size = shares.paretovariate(0.8) * 20
            if changed and number % 9 == 0:
                size *= 3
            if number == (58 if changed else 59):
                continue
            count = int(max(0, source.gauss(size, size**0.5)))
            name = f"f{number}|<x>" if number % 10 == 0 else f"f{number}"
            for where in ("a", "b"):
                if count:
                    file.write(f"main;{where};{name} {count}\n")


def run(program, *arguments):
    return subprocess.run([program, "diff", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def verdicts_of_json(report):
    """(name, figure) -> verdict of what changed or may have; and the names of the rest."""
    changed, others = {}, {}
    for row in report["events"][0]["rows"]:
        own, total = row["self"], row["total"]
        same = own["old_value"] == total["old_value"] and own["new_value"] == total["new_value"]
        is_own, is_total = own["verdict"] in LISTED, total["verdict"] in LISTED
        if is_own:
            changed[row["name"], "self"] = own["verdict"]
        if is_total and not (is_own and same):
            changed[row["name"], "total"] = total["verdict"]
        if not is_own and not is_total:
            others[row["name"], "total"] = total["verdict"]
    return changed, others


def verdicts_of_markdown(text):
    rows = re.findall(r"^\| `(.*?)` (self|total) \|.*\| ([a-z ()]+) \|$", text, re.MULTILINE)
    found = {(name.replace("\\|", "|"), figure): verdict for name, figure, verdict in rows}
    return ({key: v for key, v in found.items() if v in LISTED}, {key: v for key, v in found.items() if v not in LISTED})


def long_profile(path, changed, kernel="x"):
    """Functions whose names are long, wide, or full of what Markdown and HTML read."""
    names = [f"std::map<std::string, std::vector<app::Value{i}>, std::less<void>>::operator[](std::string const&)" for i in range(9)]
    names += ["a|b|c`d``e|" * 12, "<main> # > - 1. *x* [a](b) @name " * 9, "\u6f22\u5b57" * 60, "x" * 900, "`", "|"]
    with open(path, "w", encoding="utf-8") as file:
        for number, name in enumerate(names):
            file.write(f"main;run;{name.replace(';', '')} {700 + 40 * number + (600 if changed and number % 2 else 0)}\n")
        for number in range(40):
            file.write(f"main;other;{kernel}{number} {30 + number}\n")


def columns(line):
    return sum(2 if character >= "\u1100" else 1 for character in line)


def comment_differs(program, files, options, least_tables):
    """What is wrong with Markdown as a comment has it."""
    text, report = run(program, *files, *options, "--markdown"), json.loads(run(program, *files, *options, "--json").stdout)
    lines, problems = text.stdout.split("\n"), []
    wide = max(lines, key=columns)
    problems += [f"{columns(wide)} columns: {wide}"] if columns(wide) > 80 else []
    size = len(text.stdout.encode())
    problems += [f"{size} bytes"] if "-n" not in options and size > 4096 else []
    problems += ["a block is not closed"] if text.stdout.count("<details>") != text.stdout.count("</details>") else []
    # Each line of a list is whole spans of code: nothing in a name begins something else.
    for line in lines:
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        if re.search(r"<(?!/?(details|summary))|@name|main>", outside):
            problems.append(f"not in a span of code: {line}")
    tables, seen = re.split(r"^(?=\| (?:changed|unsure|no change seen) )", text.stdout, flags=re.MULTILINE)[1:], 0
    widths = [{columns(line) for line in table.split("\n") if line.startswith("|")} for table in tables]
    problems += ["a table is not in columns"] if any(len(width) != 1 for width in widths) else []
    rows = report["events"][0]["rows"]
    listed = [row[figure]["new_share"] - row[figure]["old_share"] for row in rows for figure in ("self", "total") if row[figure]["verdict"] in LISTED]
    for table in tables:
        kind = re.match(r"\| ([a-z ]*?) *\|", table).group(1)
        for line in table.split("\n")[2:]:
            cells = re.fullmatch(r"\| `.*` (?:self|total) +\|((?: +\S+(?: \S+)? \|)+)", line)
            if cells is None:
                continue
            seen += 1
            change = cells.group(1).split("|")[2].strip()
            if kind != "no change seen" and not change.startswith(("+" if any(value > 0 for value in listed) else "-", "-")):
                problems.append(f"the change of {line}")
    if len(tables) < least_tables or seen == 0:
        problems.append(f"{len(tables)} tables, {seen} rows")
    if bool(listed) != ("| changed " in text.stdout or "| unsure " in text.stdout):
        problems.append("what has changed is not under its heading")
    return problems


def verdicts_of_table(text):
    verdicts = r"not seen|too few samples|more|less|appeared|disappeared|unsure \(one run a side\)"
    rows = re.findall(rf"^(self|total) .*? ({verdicts})(?:  +\S+)*?  (\S+)$", text, re.MULTILINE)
    found = {(name, figure): verdict for figure, verdict, name in rows}
    return ({key: v for key, v in found.items() if v in LISTED}, {key: v for key, v in found.items() if v not in LISTED})


def findings_differ(page, rows):
    """A page has what the JSON says of each function, with figures of four digits."""
    said = {(row["name"], row.get("module", "")): row for row in rows}
    shown = {function[:2]: found for function, found in zip(page.functions, page.findings, strict=True) if found}
    problems = ["its functions differ"] if set(shown) != set(said) else []
    keys = ("old_share", "new_share", "low", "high", "least_visible")
    for function in set(shown) & set(said):
        for found, name in zip(shown[function], ("self", "total"), strict=True):
            figure = said[function][name]
            close = [math.isclose(a, figure[key], rel_tol=6e-4, abs_tol=1e-60) if figure[key] is not None else a is None
                     for a, key in zip(found[1:], keys, strict=True)]
            if found[0] != figure["verdict"] or not all(close):
                problems.append(f"its {name} of {function[0]} differs")
    return problems


def page_differs(program, files, page_file, report, by_function):
    """What is wrong with the page of a comparison: its rows are those of the JSON, its tree adds up to their values."""
    done = run(program, *files, "--html", "-o", page_file, "--force")
    page = read_page.Page(page_file)
    event, shown = report["events"][0], page.head["diff"]
    problems = findings_differ(page, event["rows"]) if by_function else []
    problems += ["its event differs"] if (shown["event"], shown["level"]) != (event["event"], event["level"]) else []
    for side, name in enumerate(("old", "new")):
        values = {}
        for path, value in page.stacks(side):
            values[path[-1][0]] = values.get(path[-1][0], 0) + value
        expected = {row["name"]: row["self"][f"{name}_value"] for row in event["rows"] if row["self"][f"{name}_value"]}
        if by_function and values != expected:
            problems.append(f"its tree differs from the {name} values")
        if sum(values.values()) != round(event[name]["value"]):
            problems.append(f"its tree is not all of {name}")
    return done.returncode, problems


def losses_differ(program, source, page_file):
    """The page says of both sides what the captures lost, and that of the runs of a side together."""
    losing, other = (str(pathlib.Path(source) / "testdata" / f"{name}.perf.data") for name in ("dwarf", "killed"))
    run(program, losing, losing, "--against", other, "--no-unwind", "--html", "-o", page_file, "--force")
    losses = read_page.Page(page_file).head["losses"]
    shown = {(name, text.split(":")[0]): int(count) for name, count, text, *_ in losses if "_not_kept." not in name}
    expected = {("user_stack_dump_without_chain", "Before"): 32, ("data_size_missing", "Now"): 1,
                ("samples_with_instruction_pointer_only", "Before"): 32}
    return [f"losses: {shown}"] if shown != expected else []


def bounds_agree(report, unsure):
    for row in report["events"][0]["rows"]:
        for figure in (row["self"], row["total"]):
            up, down = figure["low"] > 0, figure["high"] < 0
            verdicts = {UNSURE} if unsure else {"more", "appeared"} if up else {"less", "disappeared"}
            if (figure["verdict"] in LISTED) != (up or down) or ((up or down) and figure["verdict"] not in verdicts):
                return False
    return True


def main():
    program, source = sys.argv[1:]
    schema = json.loads((pathlib.Path(source) / "docs/diff.schema.json").read_text())
    problems, changes = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for runs in (1, 4):
            olds, news = ([f"{folder}/{side}{i}.folded" for i in range(runs)] for side in ("old", "new"))
            for i, (old, new) in enumerate(zip(olds, news)):
                profile(100 + i, old, False)
                profile(200 + i, new, True)
            for options in ([], ["--of", "a"], ["--by", "callstack"], ["--per", "weight"], ["--run-variation", "0"],
                            ["--run-variation", "0", "--accept-single-run"]):
                what = f"{runs} runs {' '.join(options)}"
                files = [*olds, "--against", *news, *options, "--fail-if", "self share +0.5pp", "--fail-if", "relative +40% from 1%"]
                as_json, markdown, table = run(program, *files, "--json"), run(
                    program, *files, "--markdown", "-n", "0", "--function-names", "full"), run(
                    program, *files, "-n", "0", "--function-names", "full")
                report = json.loads(as_json.stdout)
                problems += [f"{what}: {problem}" for problem in validate(report, schema, schema)]
                expected = verdicts_of_json(report)
                changes += len(expected[0])
                if verdicts_of_markdown(markdown.stdout) != expected:
                    problems.append(f"{what}: Markdown differs")
                if verdicts_of_table(table.stdout) != expected:
                    problems.append(f"{what}: the table differs")
                status_of_page, differences = page_differs(program, files, f"{folder}/page.html", report, "--by" not in options)
                problems += [f"{what}: page: {difference}" for difference in differences]
                if not bounds_agree(report, runs == 1 and "--accept-single-run" not in options):
                    problems.append(f"{what}: an interval contradicts its verdict")
                new = [finding for finding in report["gate"]["findings"] if not finding["allowed"]]
                failed = [finding["text"] for finding in new if not finding["unsure"]]
                unsure = [finding["text"] for finding in new if finding["unsure"]]
                if (unsure or failed) and bool(unsure) != (runs == 1 and "--accept-single-run" not in options):
                    problems.append(f"{what}: unsure findings")
                status = 3 if failed else 0
                if {as_json.returncode, markdown.returncode, table.returncode, status_of_page} != {status} or report["gate"]["failed"] != bool(failed):
                    problems.append(f"{what}: exit status")
                for word, texts in ((r"\*\*failed\*\*", failed), ("unsure", unsure)):
                    if texts != re.findall(f"^- {word}: `(.*)`$", markdown.stdout, re.M):
                        problems.append(f"{what}: findings differ")
                if as_json.stderr != markdown.stderr or sum(f"stackpack: diff: {text}" in as_json.stderr for text in failed) != len(failed):
                    problems.append(f"{what}: a line for each finding")
        for options in ([], ["--unit", "request"]):
            what = f"costs {' '.join(options)}"
            files = [*olds, "--against", *news, "--per", "run", *options]
            if options:
                pathlib.Path(f"{folder}/units").write_text("".join(f"{count} {file}\n" for count, file in enumerate([*olds, *news], 3)))
                files += ["--units", f"{folder}/units"]
            report = json.loads(run(program, *files, "--json").stdout)
            _, differences = page_differs(program, files, f"{folder}/costs.html", report, True)
            problems += [f"{what}: page: {difference}" for difference in differences]
            shown, event = read_page.Page(f"{folder}/costs.html").head["diff"], report["events"][0]
            if (shown["work"], shown["whole"]) != (event["work"], event["whole"]) or shown["wholes"] != [event["old"]["work"], event["new"]["work"]]:
                problems.append(f"{what}: page: what it is about differs")
        problems += losses_differ(program, source, f"{folder}/page.html")
        long_profile(f"{folder}/long_old.folded", False)
        long_profile(f"{folder}/long_new.folded", True, "a-function-with-a-name-that-is-too-long-for-a-column::")
        long = [[f"{folder}/long_{side}.folded"] * 3 for side in ("old", "new")]
        many = [word for i in range(60) for word in ("--fail-if", f"self share +{i}.{i}pp of *operator*from*a*long*pattern*that*names*something*{i}*")]
        for options in ([], ["-n", "0"], ["--by", "callstack"], ["--per", "run"], ["--per", "time"], ["--fail-if", "share +0.1pp"], many):
            for olds, news in ((long[0], long[1]), (long[0][:1], long[1][:1]), (long[0], long[0])):
                if "time" in options:
                    continue  # profiles have none
                found = comment_differs(program, [*olds, "--against", *news], options, 1 if options is not many else 0)
                problems += [f"comment {' '.join(options[:4])} of {len(olds)} runs: {problem}" for problem in found]
    if changes < 20:
        problems.append(f"only {changes} changes: the test has become weak")
    print("\n".join(problems) or f"{changes} changes, the same in all forms")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

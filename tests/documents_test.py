#!/usr/bin/env python3
"""What documents say of the code, where a program can tell: paths and links that exist, rooms, interfaces, versions of the format, section
numbers, fuzz targets, commands, counters of losses, schemas, what is run by ctest."""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import layers_test  # noqa: E402  pylint: disable=wrong-import-position

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([\w-]+))?\)")
PATH = re.compile(r"`((?:src|include|tests|fuzz|bench|docs|scripts|cmake|python|testdata|examples|packaging)/[\w./-]+)`")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
PATTERN = re.compile(r"NAME")  # stands for any name


def anchor_of(heading):
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def check_paths(root, documents, problems):
    for document, text in documents.items():
        for target, anchor in LINK.findall(text):
            path = (document.parent / target).resolve() if target else document
            if not path.exists():
                problems.append(f"{document.relative_to(root)}: no file {target}")
            elif anchor and path.suffix == ".md" and anchor not in map(anchor_of, HEADING.findall(path.read_text())):
                problems.append(f"{document.relative_to(root)}: no heading {target}#{anchor}")
        for path in PATH.findall(text):
            if not PATTERN.search(path) and not (root / path.rstrip("/.")).exists():
                problems.append(f"{document.relative_to(root)}: no file {path}")
    return sum(len(PATH.findall(text)) + len(LINK.findall(text)) for text in documents.values())


def check_rooms(root, text, problems):
    """Rows that say where to begin name rooms of layers_test.py and files in them; says which rooms have none."""
    rows = re.findall(r"^\| `(?:src/)?([\w/{},]+)` \| [^|]+ \| `([\w./]+)` \|$", text.partition("### Where to begin")[2], re.M)
    listed = set()
    for folder, begin in rows:
        match = re.fullmatch(r"(.*)\{(.*)\}", folder)
        names = [match[1] + name for name in match[2].split(",")] if match else [folder]
        listed.update(name.replace("include/stackpack", "public") for name in names)
        folders = [root / name if name.startswith("include/") else root / "src" / name for name in names]
        if not any((folder / begin).is_file() for folder in folders):
            problems.append(f"docs/architecture.md: {folder}: there is no {begin} to begin with")
    for room in sorted(set(layers_test.ROOMS) - listed - {"app", "export"}):
        problems.append(f"docs/architecture.md: no row 'where to begin' for src/{room}")
    if not listed:
        problems.append("docs/architecture.md: no rows 'where to begin'")
    for room in sorted(listed - set(layers_test.ROOMS)):
        problems.append(f"docs/architecture.md: src/{room} is no room of tests/layers_test.py")


def check_interfaces(root, text, problems):
    """The classes with functions that others define are those that the document lists."""
    found = set()
    for header in (root / "src").rglob("*.h"):
        name = None
        for line in header.read_text().splitlines():
            declared = re.match(r"(?:class|struct) (\w+)(?: final)?(?: : .*)? \{", line)
            name = declared[1] if declared else name
            if re.search(r"\) (?:const )?(?:noexcept )?= 0;", line) or re.match(r"\s+virtual .*= 0;", line):
                found.add(name)
    match = re.search(r"\*\*Virtual interfaces:\*\*(.*?)\n(?:\n|- )", text, re.S)
    listed = set(re.findall(r"`\w+::(\w+)`", match[1])) if match else set()
    if found != listed:
        problems.append(f"docs/architecture.md: virtual interfaces are {', '.join(sorted(found))}")


def check_format(root, text, problems):
    rows = re.findall(r"^\| (\d+\.\d+) \|", text, re.M)
    if rows != sorted(set(rows), key=lambda row: [int(part) for part in row.split(".")]):
        problems.append(f"docs/format.md: versions are not in order: {', '.join(rows)}")
    layout = (root / "src/spk/format/layout.h").read_text()
    written = ".".join(re.search(rf"kFormat{part} = (\d+);", layout)[1] for part in ("Major", "Minor"))
    if f"written as {written}" not in text or written not in rows:
        problems.append(f"docs/format.md: does not say that files are written as {written}")
    numbers = [int(number) for number in re.findall(r"^## (\d+)\. ", text, re.M)]
    if numbers != list(range(1, len(numbers) + 1)):
        problems.append(f"docs/format.md: sections are numbered {numbers}")
    for number in re.findall(r"\bsection (\d+)\b", text):
        if int(number) not in numbers:
            problems.append(f"docs/format.md: there is no section {number}")


def check_targets(root, text, problems):
    targets = {path.name.removesuffix("_target.cc") for path in (root / "fuzz").glob("*_target.cc")}
    rows = re.findall(r"^\| (\w+) \| [\d,]+ \|", text.split("## Fuzzing", 1)[1].split("\n## ", 1)[0], re.M)
    problems += [f"docs/testing.md: {name} is not a target in fuzz/" for name in rows if name not in targets | {"all"}]
    if not rows:
        problems.append("docs/testing.md: no fuzz targets")


def check_commands(root, text, problems):
    """Each command of the program has a row in the table of commands, which has no others."""
    table = text.partition("## Commands")[2].partition("\n## ")[0]
    listed = {name for row in re.findall(r"^\| (.*?[^\\]) \|", table, re.M) for name in re.findall(r"`([a-z]+)\b", row)}
    defined = {name for path in (root / "src/cli/definitions").glob("*.cc")
               for name in re.findall(r'\b(?:command|define_neighbours)\(\s*"([a-z]+)"', path.read_text())}
    problems += [f"docs/cli.md: no row for the command {name}" for name in sorted(defined - listed)]
    problems += [f"docs/cli.md: there is no command {name}" for name in sorted(listed - defined)]
    return len(defined)


def check_losses(root, documents, problems):
    """Each counter of losses, and each reason for skipped bytes, is explained somewhere."""
    names = set()
    for header in (root / "src").rglob("*.h"):
        text = header.read_text()
        names.update(re.findall(r'SkipReason k\w+\s*\{\s*"(\w+)"', text))
        if header.name.endswith("_losses.h"):
            names.update(re.findall(r'std::string_view k\w+\s*=\s*"(\w+)"', text))
    words = {word for text in documents.values() for word in re.findall(r"\w+", text)}
    problems += [f"docs: nothing says what {name} counts" for name in sorted(names - words)]
    if len(names) < 100:
        problems.append(f"only {len(names)} counters of losses were found in src")
    return len(names)


def check_schemas(root, documents, problems):
    """Each schema is linked or named by a document."""
    for schema in (root / "docs").rglob("*.schema.json"):
        if not any(schema.name in text for text in documents.values()):
            problems.append(f"docs: nothing names {schema.relative_to(root)}")


def check_test_names(root, documents, problems):
    """`ctest -R NAME` finds a test: one that a CMakeLists.txt names, or begins to name where the rest is a variable, or a transcript."""
    text = "\n".join(path.read_text() for path in (root / "tests").rglob("CMakeLists.txt"))
    known = [name.partition("${")[0] for name in re.findall(r"add_test\(NAME ([\w.${}-]+)", text)]
    known += ["cli." + path.stem for path in (root / "tests/cli/cases").glob("*.sh")]
    for document, text in documents.items():
        for name in re.findall(r"ctest (?:--test-dir \S+ )?-R '?\^?([\w.]+)", text):
            if not any(name in one or (one.endswith((".", "_")) and name.startswith(one)) for one in known):
                problems.append(f"{document.relative_to(root)}: no test {name}")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    listed = []
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True, check=False).stdout.split()
    files = [root / name for name in listed] or [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    documents = {path: path.read_text() for path in files if path.exists()}
    problems = []
    count = check_paths(root, documents, problems)
    architecture = (root / "docs/architecture.md").read_text()
    check_rooms(root, architecture, problems)
    check_interfaces(root, architecture, problems)
    check_format(root, (root / "docs/format.md").read_text(), problems)
    check_targets(root, (root / "docs/testing.md").read_text(), problems)
    commands = check_commands(root, (root / "docs/cli.md").read_text(), problems)
    losses = check_losses(root, documents, problems)
    check_schemas(root, documents, problems)
    check_test_names(root, documents, problems)
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents, {count} links and paths, {commands} commands, {losses} counters, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

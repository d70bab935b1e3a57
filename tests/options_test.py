#!/usr/bin/env python3
"""Compares the tables of docs/options.md with the options of C++, C, Python and the command line: each option is in the table, and
where the table says. Defaults of numbers and of Python are compared, too."""
import ast
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^\| `(\w+)` \|(.*)\|$", re.M)
# How a type of the table is spelt in C++, C and Python.
TYPES = {
    "text": ({"std::string"}, {"const char*"}, {"Optional[str]"}),
    "path": ({"std::string"}, {"const char*"}, {"Optional[PathLike]"}),
    "paths": ({"std::vector<std::string>"}, {"const char* const*", "size_t"}, {"Sequence[PathLike]"}),
    "1 to 22": ({"int"}, {"uint32_t"}, {"int"}),
    "number": ({"unsigned"}, {"uint32_t"}, {"Optional[int]"}),
    "bytes": ({"std::uint64_t"}, {"uint64_t"}, {"int"}),
    "ns": ({"std::uint64_t"}, {"uint64_t"}, {"int"}),
    "yes or no": ({"bool"}, {"uint32_t"}, {"bool"}),
}
DEFAULTS = {"yes": "true", "no": "false", "9": "9", "1": "1", "times are kept": "0", "two, or fewer processors": "kAutoEncoders"}


def table_of(text, command):
    """The rows below a heading: field, type, default, fields of C, argument of Python, option."""
    section = re.search(rf"^## {command}\n(.*?)(?=^## )", text, re.M | re.S)[1]
    rows = {}
    for match in ROW.finditer(section):
        kind, default, c_fields, argument, option = (cell.strip() for cell in match[2].split("|"))
        rows[match[1]] = (kind, default, re.findall(r"`(\w+)`", c_fields), argument.strip("`"), option.strip("`"))
    return rows


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def fields_of_cpp(header, struct):
    """Type and default of each field of a struct."""
    body = re.search(rf"struct {struct} \{{\n(.*?)\n\}};", without_comments(header), re.S)[1]
    fields = {}
    for kind, name, default in re.findall(r"^\s*(?!static)([\w:<>]+) (\w+)(?: = ([^;]+)|\{\})?;", body, re.M):
        fields[name] = (kind, default.replace("ConvertOptions::", ""))
    return fields


def fields_of_c(header, struct):
    body = re.search(rf"typedef struct {struct} \{{\n(.*?)\n\}} {struct};", without_comments(header), re.S)[1]
    return {name: kind for kind, name in re.findall(r"^\s*([\w* ]+?) ?(\w+);", body, re.M)}


def arguments_of_python(source, function):
    """Annotation and default of each keyword, and the fields of the C struct that are set."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            arguments = {argument.arg: (ast.unparse(argument.annotation), ast.unparse(default))
                         for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults)}
            assigned = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)}
            return arguments, assigned
    raise KeyError(function)


def compare(problems, what, found, listed):
    for name in sorted(set(found) - set(listed)):
        problems.append(f"{what}: {name} is not in docs/options.md")
    for name in sorted(set(listed) - set(found)):
        problems.append(f"{what}: docs/options.md has {name}, which is not there")


def check(problems, root, program, command):
    rows = table_of((root / "docs/options.md").read_text(), command)
    title = command.capitalize()
    cpp = fields_of_cpp((root / f"include/stackpack/{command}.h").read_text(), f"{title}Options")
    compare(problems, f"{title}Options", cpp, rows)
    c = fields_of_c((root / "include/stackpack/c_convert.h").read_text(), f"stackpack_{command}_options")
    compare(problems, f"stackpack_{command}_options", c, [field for row in rows.values() for field in row[2]] + ["struct_size", "progress"])
    python, assigned = arguments_of_python((root / "python/stackpack/_work.py").read_text(), command)
    compare(problems, f"stackpack.{command}", python, [row[3].partition("=")[0] for row in rows.values() if row[3] != "-"] + ["on_progress"])
    compare(problems, f"fields that stackpack.{command} sets", assigned, [field for row in rows.values() for field in row[2]] + ["progress"])
    spelt = subprocess.run([program, command, "--help"], check=True, capture_output=True, text=True).stdout
    manual = (root / "docs/cli.md").read_text()
    for name, (kind, default, c_fields, argument, option) in rows.items():
        where = f"docs/options.md: {command}: {name}"
        types = TYPES[kind]
        if name in cpp and cpp[name][0] not in types[0]:
            problems.append(f"{where}: is a {cpp[name][0]} in C++")
        if name in cpp and default in DEFAULTS and cpp[name][1] != DEFAULTS[default]:
            problems.append(f"{where}: the default of C++ is '{cpp[name][1]}'")
        for field in c_fields:
            if field in c and c[field] not in types[1]:
                problems.append(f"{where}: is a {c[field]} in C")
        keyword, _, value = argument.partition("=")
        if keyword in python and (python[keyword][0] not in types[2] or python[keyword][1] != value):
            problems.append(f"{where}: is {keyword}: {' = '.join(python[keyword])} in Python")
        line = re.search(rf"^  (?:(-\w), |    ){re.escape(option)}\b", spelt, re.M)
        if line is None:
            problems.append(f"{where}: {command} --help does not have {option}")
        elif not any(re.search(rf"`{re.escape(spelling)}\b", manual) for spelling in (option, line[1]) if spelling):
            problems.append(f"{where}: docs/cli.md does not have {option}")
    return len(rows)


def main():
    root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    problems = []
    count = sum(check(problems, root, program, command) for command in ("convert", "merge"))
    for problem in problems:
        print(problem)
    print(f"{count} options, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

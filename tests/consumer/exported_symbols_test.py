#!/usr/bin/env python3
"""The shared library offers every function of the public headers, and nothing of what is inside.

    exported_symbols_test.py LIBRARY INCLUDE_FOLDER
"""
import pathlib
import re
import subprocess
import sys

# A declaration that ends with ';', in namespace stackpack itself: not indented, not inline.
FREE_FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\] )?(?=[A-Za-z])(?!inline|constexpr|using|template|typedef|namespace|//)[\w:<>,&*\s\[\]]+?\b([a-z_0-9]+)\(",
                           re.MULTILINE)
INSIDE = re.compile(r"(?:^|for )stackpack::[a-z_]+::")


def main():
    library, include = sys.argv[1], pathlib.Path(sys.argv[2])
    table = subprocess.run(["nm", "-D", "-C", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout
    names = [line.split(maxsplit=2)[2] for line in table.splitlines()]
    problems = [f"offered, but not public: {name}" for name in names if INSIDE.search(name)]

    wanted = 0
    for header in sorted((include / "stackpack").glob("*.h")):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        for function in sorted(set(FREE_FUNCTION.findall(text))):
            name = function if header.name.startswith("c_") else f"stackpack::{function}"
            wanted += 1
            if not any(re.match(re.escape(name) + r"(\[abi:\w+\])?(\(|@|$)", offered) for offered in names):
                problems.append(f"{header.name}: {function} is not offered")
    if not any(name.startswith("stackpack::Reader::open(") for name in names):
        problems.append("reader.h: Reader::open is not offered")

    for problem in problems:
        print(problem)
    print(f"{len(names)} symbols, {wanted} functions of the headers, {len(problems)} problems")
    return 1 if problems or wanted < 10 else 0


if __name__ == "__main__":
    sys.exit(main())

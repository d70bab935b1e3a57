"""Prints what clang-tidy is to be run on, one a line: tidy_units.py COMPILE_COMMANDS SOURCE...

These are the sources of sources that CMake makes (STACKPACK_UNITE), those with most lines first.
Fails when a SOURCE is in none of them: nothing may go unchecked because no target lists it. Of sources
that stand for each other one is enough: which it is depends on what is installed.
"""
import json
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)

ALTERNATIVES = [{"llvm_names_read.cc", "llvm_names_none.cc"}, {"elf_names.cc", "elf_names_none.cc"},
                {"xz_stream.cc", "xz_stream_none.cc"}, {"disassembler_capstone.cc", "disassembler_none.cc"},
                {"shared_library_posix.cc", "shared_library_none.cc"}]


def main():
    commands, *sources = sys.argv[1:]
    wanted = {pathlib.Path(source).resolve() for source in sources}
    units = {}
    for command in json.loads(pathlib.Path(commands).read_text()):
        unit = (pathlib.Path(command["directory"]) / command["file"]).resolve()
        parts = {unit}
        if "Unity" in unit.parts:
            parts |= {pathlib.Path(name) for name in INCLUDE.findall(unit.read_text())}
        if parts & wanted:
            units[unit] = sum(len(part.read_text().splitlines()) for part in parts)
            wanted -= parts
            for names in ALTERNATIVES:
                if any(part.name in names for part in parts):
                    wanted = {source for source in wanted if source.name not in names}
    for source in sorted(wanted):
        print(f"no target has {source}", file=sys.stderr)
    for unit in sorted(units, key=lambda unit: -units[unit]):
        print(unit)
    return 1 if wanted or not units else 0


if __name__ == "__main__":
    sys.exit(main())

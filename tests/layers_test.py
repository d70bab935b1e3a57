#!/usr/bin/env python3
"""Fails on an #include that the table of rooms does not allow, on a circle in the table, on a circle of
includes between units (a header with its source), on a file name that is not unique, and on what fuzz programs
would not be linked with.

The table is the architecture: docs/architecture.md says why. Changing it is a decision, not a fix.
"""
import collections
import pathlib
import re
import sys

# Room: the rooms it may include (besides itself), and the third-party headers, by prefix. A room is the
# longest folder below src/ named here; "folder/" stands for a folder and all rooms below.
SYSTEM = ["sys/", "fcntl.h", "unistd.h", "dirent.h", "poll.h", "io.h", "windows.h", "shellapi.h", "linux/", "pthread.h", "signal.h", "termios.h"]
# What a command may be made of: all but the other commands.
LIBRARY = ["public", "core", "arrow", "bytes", "io", "codec", "elf", "scratch", "capture", "waits", "unwind", "formats/", "dag", "spk/", "symbols", "symbolize",
           "diff", "query/", "export/"]
ROOMS = {
    "public": ([], ["stddef.h", "stdint.h"]),
    "core": (["public"], ["fmt/format-inl.h", "rapidjson/"]),
    "arrow": (["public", "core"], []),
    "bytes": (["public"], ["xxhash"]),
    "io": (["public"], SYSTEM + ["spawn.h", "dlfcn.h"]),
    "codec": (["public", "bytes", "io"], ["zstd", "xxhash", "zlib.h"]),
    "elf": (["public", "bytes", "io"], []),
    "scratch": (["public", "core", "io"], []),
    "capture": (["public", "core", "bytes", "io", "scratch"], []),
    "waits": (["public", "core", "capture"], []),
    "unwind": (["public", "bytes", "io", "codec", "elf"], []),
    "formats/perf": (["public", "core", "bytes", "io", "codec", "scratch", "capture"], ["protozero/"]),
    "formats/dotnet": (["public", "core", "bytes", "io", "capture"], []),
    "formats/protobuf": (["public", "bytes", "capture"], ["protozero/"]),
    "formats/etl": (["public", "core", "bytes", "io", "scratch", "capture", "formats/dotnet"], []),
    "formats/folded": (["public", "core", "bytes", "io", "capture"], []),
    "formats/nettrace": (["public", "core", "bytes", "io", "capture", "formats/dotnet"], []),
    "formats/otlp": (["public", "core", "bytes", "io", "capture", "formats/protobuf"], ["protozero/", "rapidjson/"]),
    "formats/jfr": (["public", "core", "bytes", "io", "capture"], []),
    "formats/firefox": (["public", "core", "bytes", "io", "capture"], ["rapidjson/"]),
    "formats/speedscope": (["public", "core", "bytes", "io", "capture"], ["rapidjson/"]),
    "formats/v8": (["public", "core", "bytes", "io", "capture"], ["rapidjson/"]),
    "formats/perf_script": (["public", "core", "bytes", "capture", "io"], []),
    "formats/stacks": (["public", "core", "bytes", "capture", "io"], ["rapidjson/"]),
    "formats/pprof": (["public", "core", "bytes", "io", "codec", "capture", "formats/protobuf"], ["protozero/", "re2/re2.h"]),
    "dag": (["public", "core", "bytes", "io", "scratch", "capture"], ["emmintrin.h"]),
    "spk/format": (["public", "core", "bytes", "codec"], []),
    "spk/read": (["public", "core", "bytes", "io", "codec", "capture", "spk/format"], []),
    "spk/write": (["public", "core", "bytes", "io", "codec", "scratch", "capture", "dag", "spk/format"], []),
    "symbols": (["public", "core", "capture"], []),
    "symbolize": (["public", "core", "bytes", "io", "codec", "elf"],
                  SYSTEM + ["dlfcn.h", "libelf.h", "gelf.h", "elf.h", "dwarf.h", "elfutils/", "lzma.h", "zlib.h", "libiberty/", "llvm/Demangle/"]),
    "diff": (["public", "core"], []),
    "query": (["public", "core", "bytes"], ["re2/re2.h"]),
    "query/selection": (["public", "core", "bytes", "io", "scratch", "capture", "symbols", "query"], []),
    "query/naming": (["public", "core", "bytes", "capture", "symbols", "query", "query/selection"], ["fmt/"]),
    "export/output": (["public", "core", "bytes", "io", "codec"], ["protozero/", "rapidjson/"]),
    "export/lanes": (["public", "core", "query/"], []),
    "export/job": (["public", "core", "io", "query/", "export/output"], []),
    "export/html": (["public", "core", "bytes", "io", "codec", "symbols", "query/", "export/output", "export/lanes", "export/job"],
                    ["rapidjson/", "fmt/"]),
    "export/formats": (["public", "core", "bytes", "query/", "export/output", "export/lanes", "export/job"], ["protozero/", "rapidjson/", "fmt/"]),
    "export": (["public", "core", "io", "query/", "export/"], []),
    "app/analysis": (LIBRARY + ["app/branches"], ["fmt/"]),
    "app/unwind": (LIBRARY, []),
    "app/listing": (LIBRARY + ["app/unwind"], ["fmt/"]),
    "app/convert": (LIBRARY + ["app/unwind", "app/listing"], ["fmt/"]),
    "app/branches": (LIBRARY, ["fmt/"]),
    "app/collect": (LIBRARY + ["app/unwind", "app/convert"], []),
    "app/symbolize": (LIBRARY + ["app/unwind", "app/branches", "app/analysis", "app/listing", "app/convert"], []),
    "app/batch": (LIBRARY + ["app/convert", "app/symbolize"], []),
    "app/merge": (LIBRARY + ["app/convert", "app/batch"], []),
    "app/mcp": (LIBRARY + ["app/convert"], ["rapidjson/"]),
    "app/redact": (LIBRARY + ["app/convert", "app/symbolize"], []),
    "app/sql": (LIBRARY + ["app/arrow"], []),
    "app/arrow": (LIBRARY + ["app/analysis", "app/convert", "app/listing", "app/merge"], []),
    "app/cut": (LIBRARY + ["app/analysis", "app/convert", "app/merge"], []),
    "app/diff": (LIBRARY + ["app/analysis"], ["rapidjson/", "fmt/"]),
    "app/gate": (LIBRARY + ["app/diff"], ["fmt/", "toml++/"]),
    "app/trend": (LIBRARY + ["app/diff"], ["fmt/"]),
    "app": (LIBRARY, []),
    "bindings": (["public"], []),
    "cli": (["public", "core", "bytes", "app/"], ["CLI/", "fmt/", "rapidjson/", "malloc.h"]),
}
SOURCE_FOLDERS = ["include", "src", "tests", "bench", "fuzz"]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def room_of(path):
    """The room of a header or source below include/ or src/, or None."""
    if path.parts[0] == "include":
        return "public"
    folders = path.parts[1:-1]
    for length in range(len(folders), 0, -1):
        if (room := "/".join(folders[:length])) in ROOMS:
            return room
    return None


def allowed_rooms(names):
    """The rooms that entries of the table stand for."""
    return {room for room in ROOMS for name in names if room == name or name.endswith("/") and (room + "/").startswith(name)}


def check_include(source, kind, name, root):
    """What is wrong with `source` including `name`, or None."""
    room = room_of(source)
    rooms, third_party = ROOMS[room]
    if kind == "<":
        if "/" not in name and "." not in name:
            return None  # the C++ standard library
        if any(name.startswith(prefix) for prefix in third_party):
            return None
        return f"{room} may not use <{name}>"
    if name.startswith("stackpack/"):
        return None
    target = pathlib.Path("src") / name
    if not (root / target).is_file():
        return f'"{name}" is not a path below src/ or include/'
    other = room_of(target)
    if other == room or other in allowed_rooms(rooms):
        return None
    return f'{room} may not include "{name}"'


def circles_of(includes):
    """Groups of units of which each reaches every other: strongly connected components, by Tarjan."""
    order, low, stack, found = {}, {}, [], []

    def visit(unit):
        order[unit] = low[unit] = len(order)
        stack.append(unit)
        for other in sorted(includes.get(unit, ())):
            if other not in order:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], order[other])
        if low[unit] == order[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for unit in sorted(includes):
        if unit not in order:
            visit(unit)
    return found


def quoted_includes(path):
    return {match[2] for match in map(INCLUDE.match, path.read_text().splitlines()) if match and match[1] == '"'}


def missing_fuzz_support(root):
    """Headers of tests that fuzz targets reach, and whose source no fuzz program is linked with. Fuzzing has a
    build of its own, which runs last."""
    listed = re.search(r"STACKPACK_FUZZ_SUPPORT([^)]*)\)", (root / "fuzz/targets.cmake").read_text())[1].split()
    support = [(root / "fuzz" / name).resolve() for name in listed]
    defined = set().union(*map(quoted_includes, support))
    reached, left = set(), list((root / "fuzz").glob("*.cc")) + support
    while left:
        for name in quoted_includes(left.pop()) - reached:
            header = root / "tests" / name
            if header.is_file():
                reached.add(name)
                left.append(header)
    return [f'{name}: fuzz targets include it, fuzz/targets.cmake has no source of it' for name in sorted(reached)
            if (root / "tests" / name).with_suffix(".cc").is_file() and name not in defined]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = []
    edges = 0
    includes = collections.defaultdict(set)  # by unit
    for folder in ("include", "src"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            relative = path.relative_to(root)
            if room_of(relative) is None:
                problems.append(f"{relative}: a folder that is no room")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if match:
                    edges += 1
                    unit, other = relative.with_suffix("").as_posix(), pathlib.Path(match[2]).with_suffix("")
                    if match[1] == '"' and unit != f"src/{other}":
                        prefix = "include" if match[2].startswith("stackpack/") else "src"
                        includes[unit].add(f"{prefix}/{other}")
                    problem = check_include(relative, match[1], match[2], root)
                    if problem:
                        problems.append(f"{relative}:{number}: {problem}")

    allowed = {room: allowed_rooms(names) - {room} for room, (names, _) in ROOMS.items()}
    problems += [f"rooms that may include each other: {' '.join(circle)}" for circle in circles_of(allowed)]
    problems += [f"units that include each other: {' '.join(circle)}" for circle in circles_of(includes)]

    by_name = collections.defaultdict(list)
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".c", ".py", ".sh") and path.parts[len(root.parts):][:2] != ("fuzz", "corpus"):
                by_name[path.name].append(str(path.relative_to(root)))
    problems += [f"one name, several files: {', '.join(paths)}" for paths in by_name.values()
                 if len(paths) > 1]

    problems += missing_fuzz_support(root)

    for problem in problems:
        print(problem)
    print(f"{edges} includes, {len(by_name)} file names, {len(problems)} problems")
    return 1 if problems or edges == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

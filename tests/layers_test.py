#!/usr/bin/env python3
"""Fails on an #include that crosses the layers, and on a file name that is not unique.

The table is the architecture: docs/architecture.md says why. Changing it is a decision, not a fix.
"""
import collections
import pathlib
import re
import sys

# Layer: the layers it may include (besides itself), and the third-party headers, by prefix.
LAYERS = {
    "public": ([], ["stddef.h", "stdint.h"]),
    "io": (["public"], ["zstd", "xxhash", "zlib.h", "zip.h", "sys/", "fcntl.h", "unistd.h", "dirent.h",
                        "poll.h", "linux/", "pthread.h", "signal.h", "termios.h"]),
    "capture": (["public", "io"], []),
    "formats": (["public", "io", "capture"], ["protozero/"]),
    "dag": (["public", "io", "capture"], []),
    "spk": (["public", "io", "capture", "dag"], []),
    "export": (["public", "io", "capture"], ["protozero/", "rapidjson/", "fmt/"]),
    "app": (["public", "io", "capture", "formats", "dag", "spk", "export"], ["rapidjson/", "fmt/"]),
    "cli": (["public", "app"], ["CLI/", "fmt/", "rapidjson/", "malloc.h"]),
}
SOURCE_FOLDERS = ["include", "src", "tests", "bench", "fuzz"]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def layer_of(path):
    """The layer and, for formats/, the format: src/formats/perf/x.h -> ("formats", "perf")."""
    parts = path.parts
    if parts[0] == "include":
        return "public", ""
    return parts[1], parts[2] if parts[1] == "formats" else ""


def check_include(source, kind, name, root):
    """What is wrong with `source` including `name`, or None."""
    layer, part = layer_of(source)
    layers, third_party = LAYERS[layer]
    if kind == "<":
        if "/" not in name and "." not in name:
            return None  # the C++ standard library
        if any(name.startswith(prefix) for prefix in third_party):
            return None
        return f"layer {layer} may not use <{name}>"
    if name.startswith("stackpack/"):
        return None
    target = pathlib.Path("src") / name
    if not (root / target).is_file():
        return f'"{name}" is not a path below src/ or include/'
    other, other_part = layer_of(target)
    if (other, other_part) == (layer, part):
        return None
    if other == layer:
        return f"formats/{part} may not know formats/{other_part}"
    if other not in layers:
        return f'layer {layer} may not include "{name}" of layer {other}'
    return None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = []
    edges = 0
    for folder in ("include", "src"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            relative = path.relative_to(root)
            if layer_of(relative)[0] not in LAYERS:
                problems.append(f"{relative}: a folder that is no layer")
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if match:
                    edges += 1
                    problem = check_include(relative, match[1], match[2], root)
                    if problem:
                        problems.append(f"{relative}:{number}: {problem}")

    by_name = collections.defaultdict(list)
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".c", ".py", ".sh") and path.parts[len(root.parts):][:2] != ("fuzz", "corpus"):
                by_name[path.name].append(str(path.relative_to(root)))
    problems += [f"one name, several files: {', '.join(paths)}" for paths in by_name.values()
                 if len(paths) > 1]

    for problem in problems:
        print(problem)
    print(f"{edges} includes, {len(by_name)} file names, {len(problems)} problems")
    return 1 if problems or edges == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails where raw bytes are touched outside the folders and files that may.

Bytes of an input are read through a cursor that knows their bounds. Elsewhere no code has a pointer to
bytes, copies memory or casts pointers, but for the files below, each for the reason it has here. A file in
the list that needs no permission any more is an error, too.
"""
import pathlib
import re
import sys

# What lies under the cursor: the cursor itself, libraries' interfaces, pages of scratch files.
FOLDERS = ["io", "bytes", "codec", "scratch"]

# By file name, which is unique in the tree.
DECODER = "a decoder's inner loop, where a check for each byte costs a third of the speed: bounds are checked for " \
          "each step, and a naive decoder must agree on any input (tests/support/naive_decoders.cc)"
OWN_BYTES = "reads what this process wrote itself, in memory or in a scratch file"
ARROW = "lays out what is in memory as Arrow has it, for a consumer; reads no input"
FILES = {
    "arrow_column.cc": ARROW,
    "arrow_column.h": ARROW,
    "arrow_stream.cc": ARROW,
    "lz_copy.h": DECODER,
    "lznt1.cc": DECODER,
    "xpress_huffman.cc": DECODER,
    "xpress_plain.cc": DECODER,
    "bit_array.h": "an array of packed numbers that was checked as a whole when it was made",
    "frame_dictionary.h": "an array of packed numbers that was checked as a whole when it was made",
    "page_packer.cc": "lays out a page that was decoded and checked, in memory",
    "resident_page.h": "reads the page that page_packer.cc laid out",
    "stored_column.cc": "unpacks as many values as the cursor gave bytes for; the sum of the bits is checked before",
    "spool_codec.cc": OWN_BYTES,
    "spool_codec.h": OWN_BYTES,
    "incoming_group.cc": OWN_BYTES,
    "ascending_lists.cc": OWN_BYTES,
    "stack_predictor.cc": "moves guesses within an array of fixed size",
    "dwarf_package.cc": "gives sections of libelf, with their sizes, to the cursor",
    "recent_stacks.cc": "compares numbers of stacks that are in memory",
    "recent_chains.cc": "compares and keeps chains whose bounds the cursor has checked",
    "word_hash.h": "hashes a span, word by word",
    "rapid_json.h": "moves what RapidJSON keeps in memory to a larger block",
    "c_handles.h": "takes and fills what callers in C have",
    "c_api.cc": "takes memory from callers in C",
}

SIGNS = re.compile(r"std::byte\s*(?:const\s*)?\*|\bstd::mem(?:cpy|move|set|cmp)\b|\breinterpret_cast\b")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def signs_in(text):
    """Line numbers of `text` where raw bytes are touched, and what is there."""
    code = COMMENT_OR_TEXT.sub(blank, text)
    return [(code.count("\n", 0, found.start()) + 1, found.group(0)) for found in SIGNS.finditer(code)]


def check(root):
    problems = []
    used = set()
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".cc", ".h") or path.relative_to(root).parts[1] in FOLDERS:
            continue
        found = signs_in(path.read_text())
        if found and path.name in FILES:
            used.add(path.name)
            continue
        for line, sign in found:
            problems.append(f"{path.relative_to(root)}:{line}: {sign}: raw bytes outside of the cursor")
    for name in sorted(set(FILES) - used):
        problems.append(f"{name}: is allowed to touch raw bytes and does not")
    return problems


def self_test():
    assert signs_in("const std::byte* at;") == [(1, "std::byte*")]
    assert signs_in("\nstd::byte *at;\nstd::memcpy(a, b, 1);") == [(2, "std::byte *"), (3, "std::memcpy")]
    assert signs_in("auto* p = reinterpret_cast<char*>(q);") == [(1, "reinterpret_cast")]
    assert signs_in("// std::byte* in words\nstd::span<const std::byte> a; f(\"std::memcpy\");") == []


def main():
    self_test()
    problems = check(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What tests store of the program's own output stays small, and says why it is there: stored_test.py ROOT

Counted are transcripts, what Windows says otherwise, figures, and every file that a unit test hands to check_known_lines. Answers of other
tools, inputs and lists that people write are not.
"""
import pathlib
import re
import sys

MOST_LINES, MOST_BYTES = 3000, 300_000
COUNTED = ("tests/cli/cases/*.expected", "tests/cli/figures.txt", "tests/windows/differences/*.txt", "testdata/spk/*/expected.txt")
# The law of old versions is the same answer for ever (tests/spk/spk_compatibility_test.cc): a digest a file, and nothing else.
WITHOUT_REASON = "testdata/spk/"
# Of other tools, by hand, or what a test reads and does not compare with.
NOT_OURS = ("CMakeLists.txt", "tests/breaks/", "tests/corpus/manifest.txt", "tests/diff/statistics_reference.tsv", "tests/model/others.tsv",
            "tests/windows/left_out.txt", "testdata/")


def stored(root):
    """The files that are counted."""
    for pattern in COUNTED:
        yield from root.glob(pattern)
    for source in (root / "tests").rglob("*_test.cc"):
        yield from (root / name for name in re.findall(r'check_known_lines\(\w+, "([^"]+)"', source.read_text()))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    counted, wrong = sorted(set(stored(root))), []
    texts = {str(file.relative_to(root)): file.read_bytes() for file in counted}
    lines, size = sum(text.count(b"\n") for text in texts.values()), sum(map(len, texts.values()))
    if lines > MOST_LINES or size > MOST_BYTES:
        wrong.append(f"{lines} lines and {size} bytes are stored, {MOST_LINES} and {MOST_BYTES} may be: write a law, or ask the model")
    wrong += [f"{name}: no reason at its head" for name, text in texts.items() if text[:1] != b"#" and not name.startswith(WITHOUT_REASON)]
    for file in (*root.glob("tests/**/*.txt"), *root.glob("tests/**/*.tsv"), *root.glob("tests/**/*.expected"), *root.glob("testdata/**/*.expected")):
        name = str(file.relative_to(root))
        if name not in texts and not name.startswith(NOT_OURS) and not name.endswith(NOT_OURS[0]):
            wrong.append(f"{name}: not counted; say in {pathlib.Path(__file__).name} whose answer it is")
    print("\n".join(wrong) or f"{len(texts)} files, {lines} lines, {size} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

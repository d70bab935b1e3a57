#!/usr/bin/env python3
"""The words of docs/questions.md give the answers: questions_test.py STACKPACK PROJECT

Each command of the stackpack column is run as it stands there, on the recording of testdata/named with its symbols.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# What the answer has to say. FUNCTION is index::Trie::add. Self depends on whether inlined calls are known here, total does not.
ANSWERS = {
    "Where is the time?": r"3\d\.\d\d% +35\.53% .*unique_ptr.*~unique_ptr",
    "By thread?": r"100\.00% .*words \(\d+\)",
    "Who calls it?": r"called by\n.*\n.*index::Trie::add.*\n.* 38\.076  \S",
    "Which line?": r"index::Trie::add.*: self .*, total 38\.076 ms \(12\.50%\)\n(.*/words\.cc|no source lines are known)",
    "Which process?": r"100\.00% .*words \(\d+\)",
    "In which phase?": r"^\d+ samples of cpu-clock:u",
    "What changed?": r"No change is seen",
    "Kernel or user?": r"82\.24% +90\.13% .* words",
    "Code made at run time?": r"index::Trie::add",
    "The share of a library?": r"98\.68% .* libc\.so\.6",
    "Recursion, counted once?": r"1\d\.\d\d% +12\.50% .*index::Trie::add",
    "This request alone?": r"^19 samples",
}


def main():
    program, project = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    rows = re.findall(r"^\| ([^|]+\?) \| `stackpack ([^`]+)` \|", (project / "docs" / "questions.md").read_text(), re.M)
    assert [question for question, _ in rows] == list(ANSWERS), rows
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        words = project / "testdata" / "named" / "words.perf.data"
        for name in ("perf.data", "perf.data.old"):
            (pathlib.Path(folder) / name).symlink_to(words)
        for question, command in rows:
            typed = command.replace("FUNCTION", "index::Trie::add").replace("+1s,+2s", "+0.02s,+0.1s").split()
            done = subprocess.run([program, *typed, "--symbols", project / "testdata" / "named" / "words.zip"], cwd=folder,
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0 or not re.search(ANSWERS[question], done.stdout):
                print(f"{question} stackpack {command}: status {done.returncode}\n{done.stdout}{done.stderr}")
                bad += 1
    sys.exit(1 if bad else 0)


main()

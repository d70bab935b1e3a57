"""Runs clang-tidy on one source, unless the same text passed before with the same checks:
tidy_cached.py FOLDER UNIT OPTION...

The text is what the preprocessor makes of the source, with comments, since they can switch checks off;
the checkout's path is taken out. What passed is remembered by its hash as an empty file in
$STACKPACK_TIDY_CACHE; without that variable nothing is. Findings are never remembered.
"""
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

TIDY = "clang-tidy-14"
COMPILER = "clang++-14"


def command_of(folder, unit):
    """The compiler's arguments for a source, and where they hold. None: it is in no target."""
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        if (pathlib.Path(entry["directory"]) / entry["file"]).resolve() == unit:
            return shlex.split(entry["command"])[1:], entry["directory"]
    return None


def preprocessed(folder, unit, options):
    """The text of a source with all its headers, or None where the preprocessor refuses it."""
    found = command_of(folder, unit)
    if found is None:
        return None
    arguments, directory = found
    kept = [option.removeprefix("--extra-arg=") for option in options if option.startswith("--extra-arg=")]
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "-o":
            skip = True
        elif argument != "-c":
            kept.append(argument)
    result = subprocess.run([COMPILER, "-E", "-C", "-w", *kept], cwd=directory, capture_output=True, check=False)
    return result.stdout if result.returncode == 0 else None


def key_of(folder, unit, options):
    root = pathlib.Path(__file__).resolve().parents[2]
    text = preprocessed(folder, unit, options)
    if text is None:
        return None
    digest = hashlib.sha256()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    command = " ".join(command_of(folder, unit)[0] + list(options))
    for part in (version, command.encode(), (root / ".clang-tidy").read_bytes(), text):
        digest.update(part.replace(str(root).encode(), b""))
        digest.update(b"\0")
    return digest.hexdigest()


def main():
    folder, unit, *options = sys.argv[1:]
    cache = os.environ.get("STACKPACK_TIDY_CACHE")
    passed = None
    if cache and (key := key_of(pathlib.Path(folder), pathlib.Path(unit).resolve(), options)):
        passed = pathlib.Path(cache) / key
        if passed.exists():
            passed.touch()
            return 0
    run = subprocess.run([TIDY, "-p", folder, *options, unit], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    status = run.returncode
    sys.stdout.buffer.write(run.stdout)
    if status < 0:
        print(f"{unit}: {TIDY} crashed (signal {-status})")
        return 1
    if status != 0 and not run.stdout:  # no finding: what it would not do
        print(f"{unit}: {run.stderr.decode(errors='replace')[-500:]}")
    if status == 0 and passed:
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.touch()
    return status


if __name__ == "__main__":
    sys.exit(main())

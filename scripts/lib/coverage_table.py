"""Sums up gcov's counters per source file: coverage_table.py BUILD FOLDER..."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def main():
    build, *folders = sys.argv[1:]
    root = pathlib.Path.cwd()
    notes = [str(path.resolve()) for path in pathlib.Path(build).rglob("*.gcda")]
    lines = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as work:
        for i in range(0, len(notes), 50):
            subprocess.run(["gcov", "--json-format", *notes[i:i + 50]], cwd=work, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for report in pathlib.Path(work).glob("*.gcov.json.gz"):
                data = json.loads(gzip.decompress(report.read_bytes()))
                for file in data["files"]:
                    path = (pathlib.Path(data["current_working_directory"]) / file["file"]).resolve()
                    if not path.is_relative_to(root):
                        continue
                    known = lines[str(path.relative_to(root))]
                    for line in file["lines"]:
                        number = line["line_number"]
                        known[number] = known.get(number, 0) + line["count"]
                report.unlink()
    rows = []
    for name, known in lines.items():
        if known and any(name.startswith(folder.rstrip("/") + "/") for folder in folders):
            run = sum(count > 0 for count in known.values())
            rows.append((100 * run / len(known), len(known), run, name))
    for percent, total, run, name in sorted(rows):
        print(f"{percent:6.1f} %  {run:5} of {total:5}  {name}")
    total, run = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{100 * run / total if total else 0:6.1f} %  {run:5} of {total:5}  all")


if __name__ == "__main__":
    main()

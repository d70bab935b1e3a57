"""The example of docs/python.md, as it is printed."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import stackpack

for module in ("duckdb", "pandas", "polars", "pyarrow"):
    pytest.importorskip(module)

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_the_example_runs_as_printed(tmp_path, captures):
    block = re.search(r"\n((?:    .*\n|\n)*    import stackpack\n(?:    .*\n|\n)+)", DOCUMENT.read_text(encoding="utf-8")).group(1)
    code = "\n".join(line[4:] for line in block.splitlines())
    (tmp_path / "perf.data").write_bytes((captures / "named" / "words.perf.data").read_bytes())
    (tmp_path / "bundle.zip").write_bytes((captures / "named" / "words.zip").read_bytes())
    (tmp_path / "debug").mkdir()
    for name in ("a", "b", "old1", "old2", "new1", "new2"):
        (tmp_path / "text.folded").write_text(f"main;hot {100 + 900 * name.startswith('new')}\nmain;{name} 1000\n")
        stackpack.convert(tmp_path / "text.folded", tmp_path / f"{name}.spk")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env=dict(os.environ, BROWSER="true", TMPDIR=str(tmp_path)))
    assert done.returncode == 0, done.stderr
    with stackpack.open(tmp_path / "all.spk") as merged:
        assert merged.sources().to_arrow().num_rows == 2
    lines = done.stdout.splitlines()
    assert any(line.startswith("hot ") and line.endswith(" more") for line in lines)
    assert any(line.startswith("finishing ") or line.startswith("reading ") for line in lines)
    assert lines[-1] == "[('cpu-clock:u', 152)]"
    assert any(line.startswith("index::Trie::") and line.split()[-1].isdigit() for line in lines)
    assert (tmp_path / "run.pb.gz").read_bytes().startswith(b"\x1f\x8b")

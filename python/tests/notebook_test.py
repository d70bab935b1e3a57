"""The notebook of examples/notebook, run without a browser: every cell, and what it shows."""
import re
import sys

import pytest

from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")


def test_the_notebook_runs_and_shows_the_page(monkeypatch, tmp_path):
    named = ROOT / "testdata" / "named"
    monkeypatch.setenv("STACKPACK_CAPTURE", str(named / "words.perf.data"))
    monkeypatch.setenv("STACKPACK_SYMBOLS", str(named / "words.zip"))
    # A kernel of this Python, whatever others are installed.
    kernel = tmp_path / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(f'{{"argv": ["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"], '
                                        '"display_name": "Python 3", "language": "python"}', encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    notebook = nbformat.read(ROOT / "examples" / "notebook" / "capture.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(tmp_path))
    shown = [output["data"] for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs if "data" in output]
    file, top, samples = (each["text/html"] for each in shown)
    # The page is in a frame that may do nothing but run its own scripts.
    assert 'sandbox="allow-scripts allow-downloads"' in file
    assert re.search("<b>named.spk</b>: 152 samples, 89 callstacks, 5,[0-9]{3} bytes, of a capture of 24 kB", file)
    assert "index::Trie::add" in top and top.count("<tr") == 6
    assert "samples of named.spk" in samples
    # Numbers to the right, texts to the left, below their names.
    for name, side in (("time_ns", "right"), ("event", "left"), ("callstack", "right")):
        assert f'<th style="text-align: {side}">{name}</th>' in samples
    assert samples.count('<td style="text-align: left">cpu-clock:u</td>') == 10

"""Captures of the project as files that tests read."""
import pathlib

import pytest

import stackpack

ROOT = pathlib.Path(__file__).parents[2]
FOLDED = "main;parse;read 30\nmain;parse;parse;scan 20\nmain;write 5\nidle 45\n"


@pytest.fixture(scope="session")
def captures():
    """Folder of captures."""
    return ROOT / "testdata"


@pytest.fixture(scope="session")
def spk(tmp_path_factory, captures):
    """A .spk file of a small recording."""
    path = tmp_path_factory.mktemp("spk") / "file.spk"
    stackpack.convert(captures / "file.perf.data", path)
    return path


@pytest.fixture(scope="session")
def named_spk(tmp_path_factory):
    """A .spk file with names, of folded text: a function that calls itself among them."""
    folder = tmp_path_factory.mktemp("named")
    (folder / "named.folded").write_text(FOLDED)
    stackpack.convert(folder / "named.folded", folder / "named.spk")
    return folder / "named.spk"


@pytest.fixture(scope="session")
def merged_spk(tmp_path_factory, captures):
    """Two recordings as one file, with names and lives of processes."""
    folder = tmp_path_factory.mktemp("merged")
    stackpack.merge([captures / name for name in ("threads.perf.data", "file.perf.data")], folder / "merged.spk")
    return folder / "merged.spk"

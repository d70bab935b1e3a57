"""Arguments of the wrong type are errors of type, not something else that was asked."""
import numbers
import pathlib

import pytest

import stackpack
from stackpack import Filter


@pytest.mark.parametrize("wrong", [{"pid": "4432"}, {"tid": 1.5}, {"cpu": True}, {"begin": 1.5}, {"event": 7}, {"comm": [7]},
                                   {"module": pathlib.Path("libc.so")}])
def test_a_filter_takes_numbers_as_numbers_and_names_as_names(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        Filter(**wrong)


def test_a_filter_takes_what_counts_as_a_number():
    class Four:
        """As integers of numpy are."""
        def __index__(self):
            return 4
        def __int__(self):
            return 4
    numbers.Integral.register(Four)
    assert Filter(pid=Four()).pid is not None and Filter(begin=0, end="+1s", comm=("a", "b")).comm == ("a", "b")


def test_a_path_is_no_list(tmp_path, spk):
    out = tmp_path / "out.spk"
    for name, call in (("inputs", lambda: stackpack.merge(str(spk), out)),
                       ("inputs", lambda: stackpack.merge(spk, out)),
                       ("symbols", lambda: stackpack.symbolize(spk, out, symbols="debug")),
                       ("binary_folders", lambda: stackpack.convert(spk, out, binary_folders=tmp_path)),
                       ("before", lambda: stackpack.diff(spk, [spk])),
                       ("after", lambda: stackpack.diff([spk], str(spk)))):
        with pytest.raises(TypeError, match=name):
            call()
    assert not out.exists()


def test_no_option_of_the_command_line_in_what_the_library_says(tmp_path, captures):
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(stackpack.StackpackError) as refused:
        stackpack.convert(captures / "tiny.perf.data", other)
    assert "force" in str(refused.value) and "--" not in str(refused.value)
    assert other.read_text() == "mine"
    with pytest.raises(stackpack.StackpackError, match="directory"):
        stackpack.open(tmp_path)

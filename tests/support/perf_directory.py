"""Captures that are directories (`perf record --threads`)."""
import os
import pathlib
import shutil


def as_perf_reads(directory, copy):
    """Copies the directory so that perf reads the parts in the order of their numbers: perf takes them as the file system lists them."""
    directory, copy = pathlib.Path(directory), pathlib.Path(copy)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(directory, copy)
    listed = [name for name in os.listdir(copy) if name.startswith("data.")]
    for name, content in zip(listed, sorted(listed, key=lambda part: int(part[5:]))):
        shutil.copyfile(directory / content, copy / name)
    return copy

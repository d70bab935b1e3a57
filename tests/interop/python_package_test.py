#!/usr/bin/env python3
"""The Python package over the library that was built, with the engines it is made for.

    python_package_test.py LIBRARY CLIENTS_FOLDER SOURCE_FOLDER

With STACKPACK_WHEEL=1 the wheel is built and installed into a fresh environment instead. 77: the engines are not installed.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import clients

PACKAGES = ["cffi", "pytest", "pyarrow", "pandas", "polars", "duckdb"]


def python_of(cache):
    """A Python that has what the tests take."""
    python = cache / "python" / "bin" / "python"
    if not python.exists():
        clients.install("venv", [clients.need("python3"), "-m", "venv", cache / "python"])
    have = [python, "-c", "import " + ", ".join(PACKAGES)]
    if subprocess.run(have, capture_output=True, check=False).returncode != 0:
        clients.install("Python packages", [python, "-m", "pip", "install", "-q", "--retries", "0", *PACKAGES])
    return python


def test_built(python, library, source):
    """The tests, with the modules as they are in the tree."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(library, pathlib.Path(folder) / "libstackpack.so")
        for header in ("c_api.h", "arrow_c_data.h"):
            shutil.copy(source / "include" / "stackpack" / header, folder)
        environment = dict(os.environ, STACKPACK_PYTHON_LIBRARY=folder, PYTHONPATH=str(source / "python"),
                           PYTHONDONTWRITEBYTECODE="1")
        return run_tests(python, source, environment)


def test_wheel(source):
    """The tests, with the package as pip installs it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = pathlib.Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", f"{source}[test]"], check=True)
        return run_tests(python, source, dict(os.environ))


def run_tests(python, source, environment):
    tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", source / "python" / "tests"]
    return subprocess.run(tests, cwd=source, env=environment, check=False).returncode


def main():
    library, cache, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    if os.environ.get("STACKPACK_WHEEL") == "1":
        return test_wheel(source)
    try:
        python = python_of(cache)
    except clients.Missing as reason:
        print(f"skipped: {reason}")
        return 1 if os.environ.get("STACKPACK_REQUIRE_CLIENTS") == "1" else 77
    return test_built(python, library, source)


if __name__ == "__main__":
    sys.exit(main())

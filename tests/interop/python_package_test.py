#!/usr/bin/env python3
"""The Python package, with the engines it is made for.

    python_package_test.py SUITE LIBRARY CLIENTS_FOLDER SOURCE_FOLDER

SUITE: `tables`, the package over the library that was built; `wheel`, the same tests over a wheel that pip builds and
installs into a fresh environment; `spark`, `dask`, `kubernetes`: examples/fleet; `object_store`: the tables in one; `iceberg`: as a table
of that; `notebook`: examples/notebook. 77: the engines are not installed.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import clients

BASE = {"cffi": "cffi", "pytest": "pytest", "pyarrow": "pyarrow", "pandas": "pandas", "polars": "polars", "duckdb": "duckdb",
        "mypy": "mypy"}
# Modules, and the packages that have them.
MORE = {"spark": {"pyspark": "pyspark"}, "dask": {"distributed": "dask[distributed]"},
        "kubernetes": {"kubernetes_validate": "kubernetes-validate", "yaml": "PyYAML"},
        "iceberg": {"pyiceberg": "pyiceberg[sql-sqlite,pyarrow]", "sqlalchemy": "sqlalchemy"},
        "notebook": {"nbclient": "nbclient", "nbformat": "nbformat", "ipykernel": "ipykernel"},
        "object_store": {"moto": "moto[server]", "fsspec": "fsspec"}}
TABLES = ["tables_test.py", "intervals_test.py", "filters_test.py", "arguments_test.py", "work_test.py", "program_test.py", "parquet_test.py", "lake_test.py", "lake_sql_test.py", "lake_waits_test.py", "verdicts_test.py", "compact_test.py", "fleet_test.py", "docs_test.py"]


def python_of(cache, suite):
    """A Python that has what the tests take."""
    python = cache / "python" / "bin" / "python"
    if not python.exists():
        clients.install("venv", [clients.need("python3"), "-m", "venv", cache / "python"])
    wanted = {**BASE, **MORE.get(suite, {})}
    find = "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[1:]))"
    if subprocess.run([python, "-c", find, *wanted], capture_output=True, check=False).returncode != 0:
        clients.install("Python packages", [python, "-m", "pip", "install", "-q", "--retries", "0", *wanted.values()])
    if suite == "spark":
        clients.need("java")
    return python


def test_built(python, library, source, tests):
    """The tests, with the modules as they are in the tree."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(library, pathlib.Path(folder) / "libstackpack.so")
        headers = source / "include" / "stackpack"
        for header in (headers / "arrow_c_data.h", *headers.glob("c_*.h")):
            shutil.copy(header, folder)
        environment = dict(os.environ, STACKPACK_PYTHON_LIBRARY=folder, PYTHONPATH=str(source / "python"),
                           PYTHONDONTWRITEBYTECODE="1")
        return run_tests(python, source, environment, tests)


def test_wheel(python, library, source):
    """The tests, with the package as pip builds and installs it; the engines are those of `python`."""
    # A folder of the same depth: to the compiler cache the paths are those of this build.
    build = library.parent.with_name(library.parent.name + "-wheel")
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        # What was compiled for this build is taken from the compiler cache, which looks at names of compilers, too.
        compilers = {"CC": "cc", "CXX": "c++", **os.environ}
        settings = ["-Cbuild-dir=" + str(build),
                    "-Ccmake.define.STACKPACK_WERROR=" + os.environ.get("STACKPACK_WERROR", "OFF")]
        subprocess.run([fresh, "-m", "pip", "install", "-q", "--retries", "0", *settings, source], check=True,
                       env=compilers)
        sites = [subprocess.run([one, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                                capture_output=True, text=True).stdout.strip() for one in (fresh, python)]
        (pathlib.Path(sites[0]) / "engines.pth").write_text(sites[1] + "\n", encoding="utf-8")
        check = "import stackpack, sys; sys.exit(not stackpack.__file__.startswith(sys.argv[1]))"
        subprocess.run([fresh, "-c", check, folder], cwd=folder, check=True)
        # The program is that of the wheel.
        subprocess.run([fresh.with_name("stackpack"), "--version"], check=True, stdout=subprocess.DEVNULL)
        environment = {name: value for name, value in os.environ.items() if name != "STACKPACK_PROGRAM"}
        return run_tests(fresh, source, environment, TABLES)


def run_tests(python, source, environment, tests):
    files = [source / "python" / "tests" / name for name in tests]
    return subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files], cwd=source, env=environment,
                          check=False).returncode


def main():
    suite = sys.argv[1]
    library, cache, source = (pathlib.Path(argument).resolve() for argument in sys.argv[2:5])
    try:
        if suite == "wheel" and os.environ.get("STACKPACK_INSTALL_CLIENTS") != "1":
            raise clients.Missing("pip takes what builds the wheel from a registry, with STACKPACK_INSTALL_CLIENTS=1")
        python = python_of(cache, suite)
    except clients.Missing as reason:
        print(f"skipped: {reason}")
        return 1 if os.environ.get("STACKPACK_REQUIRE_CLIENTS") == "1" else 77
    if suite == "wheel":
        return test_wheel(python, library, source)
    return test_built(python, library, source, {"tables": TABLES, "spark": ["spark_test.py", "spark_sql_test.py"]}.get(suite, [f"{suite}_test.py"]))


if __name__ == "__main__":
    sys.exit(main())

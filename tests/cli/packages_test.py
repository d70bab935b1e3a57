#!/usr/bin/env python3
"""Images count under their packages: packages_test.py STACKPACK PROJECT

The lists of dpkg are of a folder, and the recording is that of testdata/named.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    program, project = sys.argv[1:]

    def rows(by, folder):
        done = subprocess.run([program, "top", f"{project}/testdata/named/words.perf.data", "--no-symbolize", "--by", by, "--json"],
                              capture_output=True, text=True, check=True, env={**os.environ, "DPKG_ADMINDIR": folder})
        return {row["name"]: (row["self"], row["total"]) for row in json.loads(done.stdout)["rows"]}

    with tempfile.TemporaryDirectory() as folder:
        info = pathlib.Path(folder, "info")
        info.mkdir()
        modules = rows("module", folder)
        assert {f"[{name}]" if name[0] != "[" else name for name in modules} == set(rows("package", folder)), modules
        (info / "libs:amd64.list").write_text("/.\n/lib/x86_64-linux-gnu/libc.so.6\n/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30\n")
        packages = rows("package", folder)
        # A sample in both libraries counts once in the total of their package.
        self_of_both = modules["libc.so.6"][0] + modules["libstdc++.so.6.0.30"][0]
        assert packages["libs"][0] == self_of_both, packages
        assert max(modules["libc.so.6"][1], modules["libstdc++.so.6.0.30"][1]) <= packages["libs"][1] <= sum(row[0] for row in modules.values())
        assert packages["[words]"] == modules["words"] and "libc.so.6" not in packages, packages


main()

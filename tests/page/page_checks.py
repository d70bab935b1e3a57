#!/usr/bin/env python3
"""One check of the page: page_checks.py units|types|lint|browser STACKPACK CLIENTS.

Exits with 77 and a reason when node, a package or every browser is missing; packages of npm are installed into
the folder CLIENTS as tests/interop/clients.py says. STACKPACK_REQUIRE_CLIENTS=1 makes a missing one a failure.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "src" / "export" / "page"
sys.path.insert(0, str(HERE.parent / "interop"))
import clients  # noqa: E402

# The oldest node whose test runner and packages do: that of Debian 12 is older.
OLDEST_NODE = 20
BROWSERS = {"chrome": ["chromium", "google-chrome", "chromium-browser"], "firefox": ["firefox-esr", "firefox"]}


def node(cache):
    program = clients.need("node")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version).group(1)) >= OLDEST_NODE:
        return program
    return clients.node24(cache)[0]


def units(_stackpack, cache):
    return subprocess.run([node(cache), "--test", *sorted(map(str, HERE.glob("*_test.mjs")))], check=False).returncode


def types(_stackpack, cache):
    program = node(cache)
    folder = clients.npm(cache, "typescript")
    return subprocess.run([program, folder / "node_modules/typescript/bin/tsc", "-p", PAGE / "tsconfig.json"], check=False).returncode


def lint(_stackpack, cache):
    program = node(cache)
    folder = clients.npm(cache, "eslint")
    return subprocess.run([program, folder / "node_modules/eslint/bin/eslint.js", "--max-warnings", "0",
                           "-c", PAGE / "eslint.config.mjs", PAGE], cwd=PAGE, check=False).returncode


def browser(stackpack, cache):
    program = node(cache)
    found = {name: path for name, programs in BROWSERS.items() for path in map(shutil.which, programs) if path}
    if not found:
        raise clients.Missing("no chromium or firefox-esr in PATH")
    folder = clients.npm(cache, "puppeteer-core", "axe-core")
    status = 0
    for name in BROWSERS:
        if name not in found:
            print(f"{name}: not here, left out")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            status |= subprocess.run([program, HERE / "browser_check.mjs", name, found[name], stackpack, scratch],
                                     env=dict(os.environ, STACKPACK_CLIENTS=str(folder)), check=False).returncode
    return status


def main():
    check, stackpack, cache = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    try:
        return {"units": units, "types": types, "lint": lint, "browser": browser}[check](stackpack, cache)
    except clients.Missing as missing:
        print(f"skipped: {missing}")
        return 1 if os.environ.get("STACKPACK_REQUIRE_CLIENTS") == "1" else 77


if __name__ == "__main__":
    sys.exit(main())

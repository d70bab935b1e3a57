#!/usr/bin/env python3
"""Names that are missing have a reason in the report: confinement_test.py PROGRAM COMPILER

Names a program with less and less memory, and where the kernel refuses the filter of system calls that confines
the reader of symbol files.
"""
import ctypes
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import damaged_files_test as material  # noqa: E402

MIB = 1 << 20
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2
PRCTL = {"x86_64": 157, "aarch64": 167}
EINVAL = 22


def refuse_filters():
    """From here on prctl(PR_SET_SECCOMP) fails, as on a kernel without filters."""
    number = PRCTL[os.uname().machine]
    load, equal, give = 0x20, 0x15, 0x06
    rows = [(load, 0, 0, 0), (equal, 0, 3, number), (load, 0, 0, 16), (equal, 0, 1, PR_SET_SECCOMP),
            (give, 0, 0, 0x50000 | EINVAL), (give, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))

    class Program(ctypes.Structure):
        _fields_ = [("size", ctypes.c_ushort), ("rows", ctypes.c_void_p)]

    program = Program(len(rows), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or \
            libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no filter")


def naming(program, packed, root, options=(), prepare=None):
    """The report on the only image; None when the run itself failed."""
    done = subprocess.run([program, "symbolize", str(packed), "-o", str(packed.parent / "named.spk"), "--sysroot",
                           root, "--json", *options], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=prepare)
    if done.returncode != 0:
        assert done.stderr, "a run failed and did not say why"
        return None
    report = json.loads(done.stdout)
    assert len(report["images"]) == 1
    return report["images"][0] | {"failed": report["failed_images"]}


def test_memory(program, packed, root, whole):
    def with_memory(limit):
        return naming(program, packed, root, prepare=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    least = next(size for size in range(16 * MIB, 1024 * MIB, 2 * MIB) if with_memory(size) is not None)
    fewer = 0
    sizes = range(least - 2 * MIB, least + 10 * MIB, MIB // 4)
    for size in sizes:
        image = with_memory(size)
        if image is not None and (image["named"], image["lines"]) != (whole["named"], whole["lines"]):
            fewer += 1
            assert image["reason"] not in ("", "no symbols there"), (size, image)
    print(f"memory: of {len(sizes)} runs with {least // MIB - 2} to {least // MIB + 10} MiB {fewer} named less and said why")
    assert 0 < fewer < len(sizes), "the sizes do not fit this program"


def test_filter(program, packed, root, whole):
    try:
        subprocess.run(["true"], check=True, preexec_fn=refuse_filters)
    except (subprocess.SubprocessError, KeyError):
        print("filter: not tried, this machine has none to refuse")
        return
    image = naming(program, packed, root, prepare=refuse_filters)
    assert image["named"] == 0 and image["failed"] == 1 and "--unconfined" in image["reason"], image
    image = naming(program, packed, root, ["--unconfined"], refuse_filters)
    assert image == whole, image


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, good = folder / "source.cc", folder / "good"
        source.write_text(material.SOURCE)
        subprocess.run([compiler, "-g", "-gz=zlib", "-O2", "-include", "regex", "-include", "iostream",
                        "-fno-eliminate-unused-debug-types",
                        str(source), "-o", str(good)], check=True)
        capture, packed = folder / "demo.perf.data", folder / "demo.spk"
        material.write_capture(capture, ["good"], sorted(start for start, _ in material.functions_of(good)))
        subprocess.run([program, "convert", "--quiet", str(capture), "-o", str(packed)], check=True)
        whole = naming(program, packed, name)
        assert whole["named"] and whole["lines"] and whole["reason"] == "" and whole["failed"] == 0, whole
        test_memory(program, packed, name, whole)
        test_filter(program, packed, name, whole)


if __name__ == "__main__":
    main()

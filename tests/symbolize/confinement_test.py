#!/usr/bin/env python3
"""Names that are missing have a reason in the report: confinement_test.py PROGRAM COMPILER

Names a program whose reader is refused memory, one request at a time, and where the kernel refuses the filter of system calls that confines
the reader of symbol files.
"""
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import damaged_files_test as material  # noqa: E402

# Counts the requests for memory of a forked process, and refuses one.
REFUSER = """
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
static unsigned long* record;
static unsigned long refused;
static int counting;
static void begin(void) { counting = 1; }
__attribute__((constructor)) static void start(void) {
  const char* path = getenv("REFUSER_RECORD");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  record = mmap(0, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  refused = strtoul(getenv("REFUSER_NUMBER"), 0, 10);
  pthread_atfork(0, 0, begin);
}
static int refuse(void) {
  if (!counting || !record || ++*record != refused) return 0;
  errno = ENOMEM;
  return 1;
}
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
void* malloc(size_t n) { return refuse() ? 0 : __libc_malloc(n); }
void* calloc(size_t n, size_t m) { return refuse() ? 0 : __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { return refuse() ? 0 : __libc_realloc(p, n); }
"""
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


def naming(program, packed, root, options=(), prepare=None, environment=None):
    """The report on the only image; None when the run itself failed."""
    done = subprocess.run([program, "symbolize", str(packed), "-o", str(packed.parent / "named.spk"), "--sysroot",
                           root, "--json", *options], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=prepare, env=os.environ | (environment or {}))
    if done.returncode != 0:
        assert done.stderr, "a run failed and did not say why"
        return None
    report = json.loads(done.stdout)
    assert len(report["images"]) == 1
    return report["images"][0] | {"failed": report["failed_images"]}


def compile_refuser(compiler, folder):
    (folder / "refuser.c").write_text(REFUSER)
    subprocess.run([compiler, "-x", "c", "-O1", "-shared", "-fPIC", "refuser.c", "-o", "refuser.so"], check=True,
                   cwd=folder)
    return folder / "refuser.so"


def test_memory(program, compiler, packed, root, whole):
    """Refuses the reader each of its requests for memory, one in a run. libdw itself may crash then, which is said."""
    folder = packed.parent
    refuser, record = compile_refuser(compiler, folder), folder / "requests"

    def refusing(number):
        record.write_bytes(bytes(8))
        return naming(program, packed, root, environment={
            "LD_PRELOAD": str(refuser), "REFUSER_RECORD": str(record), "REFUSER_NUMBER": str(number)})

    assert refusing(0) == whole
    (total,) = struct.unpack("<Q", record.read_bytes())
    assert 100 < total < 1000, total
    unseen, said, crashed = [], 0, 0
    for number in range(1, total + 1):
        image = refusing(number)
        assert image is not None, f"request {number} ended the run"
        if image["failed"] and "memory" in image["reason"]:
            said += 1
        elif image["failed"] and "crash" in image["reason"]:
            crashed += 1
        elif image != whole:
            unseen.append((number, image["named"], image["lines"], image["reason"]))
    print(f"memory: {total} requests refused, one at a time: {said} said so, {crashed} made the library crash")
    assert not unseen, f"less was named, and nothing says that memory was refused: {unseen}"
    assert said > total // 2 and crashed < total // 4


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


def test_split(program, compiler, folder):
    """A reader that opens nothing gets the .dwo files of its image, and nothing else that has such a name."""
    split, packed = folder / "split", folder / "split.spk"
    subprocess.run([compiler, "-g", "-gsplit-dwarf", "-O2", "-c", "source.cc", "-o", "split.o"], check=True, cwd=folder)
    subprocess.run([compiler, "split.o", "-o", "split"], check=True, cwd=folder)
    capture = folder / "split.perf.data"
    material.write_capture(capture, ["split"], sorted(start for start, _ in material.functions_of(split)))
    subprocess.run([program, "convert", "--quiet", str(capture), "-o", str(packed)], check=True)
    whole = naming(program, packed, str(folder))
    assert whole["lines"] and whole["missing_files"] == 0, whole
    units = folder / "split.dwo"
    text = folder / "text"
    text.write_text("no debug information, and nobody's business\n")
    for replace in (lambda: None, lambda: units.symlink_to(text), lambda: os.mkfifo(units), units.mkdir):
        units.unlink(missing_ok=True)
        replace()
        image = naming(program, packed, str(folder))
        assert image["missing_files"] == 1 and image["failed"] == 0, image
        assert image["named"] == whole["named"], image
    print("split: a .dwo file is read, what only has its name is not")


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, good = folder / "source.cc", folder / "good"
        source.write_text(material.SOURCE)
        subprocess.run([compiler, "-g", "-gz=zlib", "-O2", str(source), "-o", str(good)], check=True)
        capture, packed = folder / "demo.perf.data", folder / "demo.spk"
        material.write_capture(capture, ["good"], sorted(start for start, _ in material.functions_of(good)))
        subprocess.run([program, "convert", "--quiet", str(capture), "-o", str(packed)], check=True)
        whole = naming(program, packed, name)
        assert whole["named"] and whole["lines"] and whole["reason"] == "" and whole["failed"] == 0, whole
        test_memory(program, compiler, packed, name, whole)
        test_filter(program, packed, name, whole)
        test_split(program, compiler, folder)


if __name__ == "__main__":
    main()

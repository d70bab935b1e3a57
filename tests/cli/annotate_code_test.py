#!/usr/bin/env python3
"""Code without source lines is shown as instructions: annotate_code_test.py PROGRAM COMPILER

Links programs without debug information, makes captures with a sample at each instruction that objdump sees in their
functions, and compares: the instructions begin where objdump has them, and each has its samples. Then the file of another
build, no file, and a machine without the library that disassembles. What is not installed here is named and left out.
"""
import collections
import ctypes.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "symbolize"))
sys.dont_write_bytecode = True
import addressed_capture  # noqa: E402
import debug_files_test as material  # noqa: E402

PLAIN = """
static volatile int table[1000];
__attribute__((noinline)) int hot_sum(int n) { int s = 0; for (int i = 0; i < n; ++i) s += table[i % 1000] * i; return s; }
__attribute__((noinline)) double hot_double(double x) { while (x > 1.5) x = x / 3 + 0.25; return x; }
__attribute__((noinline)) int hot_switch(int x) {
  switch (x) { case 0: return 5; case 1: return hot_sum(x); case 2: return 77; case 3: return x * 9; case 4: return -x; default: return 0; } }
int main(int n, char** v) { (void)v; return hot_sum(n) + (int)hot_double(n) + hot_switch(n); }
"""
TEMPLATES = """
#include <map>
#include <string>
#include <vector>
__attribute__((noinline)) long hot_map(const std::vector<std::string>& words) {
  std::map<std::string, long> counts; for (const auto& word : words) ++counts[word];
  long most = 0; for (const auto& row : counts) most = most > row.second ? most : row.second; return most; }
int main(int n, char** v) { std::vector<std::string> words(v, v + n); return static_cast<int>(hot_map(words)); }
"""
BUILDS = [
    ("plain", "c", PLAIN, ["-O2"], ""),
    ("slow", "c", PLAIN, ["-O0"], ""),
    ("templates", "c++", TEMPLATES, ["-O2"], ""),
    ("arm", "c", PLAIN, ["-O2"], "aarch64-linux-gnu-"),
]


def code_of(objdump, image):
    """Addresses of instructions by function: those whose names have `hot_`."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", image], check=True, capture_output=True, text=True).stdout
    code, function = collections.defaultdict(list), None
    for line in text.splitlines():
        if title := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = title[1] if "hot_" in title[1] and "." not in title[1] else None
        elif function and (at := re.match(r" +([0-9a-f]+):\t", line)):
            code[function].append(int(at[1], 16))
    sizes = {name: (start, start + size) for start, size, name in material.Image(pathlib.Path(image)).symbols}
    return {name: [at for at in rows if sizes[name][0] <= at < sizes[name][1]] for name, rows in code.items()}


class Tester:
    def __init__(self, program, compiler, folder):
        self.program, self.compiler, self.folder = program, compiler, folder

    def run(self, *words, **environment):
        return subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **environment})

    def annotated(self, *words, **environment):
        done = self.run("top", *words, "--json", "--function-names", "linkage", **environment)
        assert done.returncode == 0, done
        return json.loads(done.stdout)["functions"]

    def build(self, name, language, source, options, prefix):
        compiler = f"{prefix}gcc" if prefix else self.compiler
        image = self.folder / name
        (self.folder / "code").write_text(source)
        subprocess.run([compiler, "-x", language, *options, str(self.folder / "code"), "-x", "none", "-Wl,--build-id=sha1",
                        *(["-lstdc++"] if language == "c++" else []), "-o", str(image)], check=True)
        return image

    def capture(self, image, addresses):
        elf = material.Image(image)
        material.PATH = str(image)
        bias = 0 if elf.loads[0][3] else material.BIAS
        data = material.make_capture.comm(addressed_capture.PID, addressed_capture.PID, "demo", 0)
        data += material.mmap2(*elf.mapping(bias), elf.build_id)
        data += b"".join(addressed_capture.sample(bias + address, i) for i, address in enumerate(addresses))
        addressed_capture.write_records(f"{image}.data", data)
        return f"{image}.data"

    def compare(self, image, objdump):
        code = code_of(objdump, str(image))
        assert len(code) >= 1, image
        compared = 0
        for name, addresses in code.items():
            # The second instruction has three samples, every other one has one.
            data = self.capture(image, addresses + addresses[1:2] * 2)
            (function,) = self.annotated(data, "--annotate", name)
            (listed,) = function["code"]
            assert listed["image"] == str(image) and "reason" not in listed, listed
            rows = listed["instructions"]
            own = [row for row in rows if addresses[0] <= row["address"] <= addresses[-1]]
            assert [row["address"] for row in own] == addresses, (image, name)
            assert [row["self"] for row in own] == [3 if i == 1 else 1 for i in range(len(addresses))], (image, name)
            assert sum(row["self"] for row in rows) == function["self"] and not any("(bad)" in row["text"] for row in own)
            compared += len(addresses)
        return compared


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        tester = Tester(program, compiler, pathlib.Path(name).resolve())
        has_library = bool(ctypes.util.find_library("capstone"))
        if not has_library:
            print("not compared: libcapstone is not installed")
        compared = 0
        for title, language, source, options, prefix in BUILDS:
            tools = [f"{prefix}{tool}" for tool in ("gcc", "objdump")]
            if prefix and not all(map(shutil.which, tools)):
                print(f"not compared: {title}, without {tools}")
                continue
            image = tester.build(title, language, source, options, prefix)
            compared += tester.compare(image, tools[1]) if has_library else 0
        print(f"{compared} instructions as objdump has them")
        assert compared > 300 or not has_library

        image = tester.build(*BUILDS[0])
        address = code_of("objdump", str(image))["hot_sum"][2]
        data = tester.capture(image, [address] * 4)
        named = tester.folder / "named.spk"
        assert tester.run("convert", "-s", data, "-o", named).returncode == 0
        if has_library:
            text = tester.run("top", named, "--annotate", "hot_sum").stdout
            lines = text[text.index("instructions of"):].splitlines()
            assert lines[0] == f"instructions of {image}" and lines[1].split() == ["self%", "total%", "address"], text
            (hot,) = [line for line in lines if "%" in line[:10] and "self" not in line]
            assert hot.split()[:3] == ["100.00%", "100.00%", hex(address)], text
            assert len(lines) <= 2 + 5 + 2, text  # two instructions around it
        # Files of the name in place of the library: as if it was not there.
        broken = tester.folder / "lib"
        broken.mkdir()
        for library in ("libcapstone.so.5", "libcapstone.so.4", "libcapstone.so"):
            (broken / library).write_text("no library")
        done = tester.run("top", named, "--annotate", "hot_sum", LD_LIBRARY_PATH=str(broken))
        assert done.returncode == 0 and "apt install libcapstone4" in done.stdout and "offset" in done.stdout, done
        # Another build at the path of the image, and none.
        tester.build("plain", "c", PLAIN + "int more;", ["-O1"], "")
        done = tester.run("top", named, "--annotate", "hot_sum")
        assert "its file of that build is not here" in done.stdout, done
        image.unlink()
        done = tester.run("top", named, "--annotate", "hot_sum")
        assert done.returncode == 0 and "its file of that build is not here" in done.stdout, done


main()

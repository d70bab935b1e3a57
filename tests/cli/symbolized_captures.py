"""Groups of answers_test.py: captures whose images are here, with names, inlined calls, lines and code; and captures one after the other."""
import gzip
import shutil

from large_captures import made
from used_options import LISTINGS

IMAGES = ("elf.dwarf5", "elf.dwarf4", "elf.clang", "elf.stripped", "elf.dynamic")
FUNCTIONS = ("entry", "*seen*", "app::Counter<3>*", "unlikely", "nothing")
FORMS = ("folded", "pprof", "speedscope", "firefox", "otlp", "html", "perfetto")
PROFILES = ("bolt-preaggregated", "autofdo", "llvm-profgen", "bolt-no-lbr", "propeller", "propeller-order")


def in_images(tools):
    """Names of several compilers' files, and of files without any, in every report."""
    folder = tools.work / "here/usr/bin"
    folder.mkdir(parents=True)
    for i in range(6):
        shutil.copy(tools.root / "testdata/symbols" / IMAGES[i % len(IMAGES)], folder / f"demo{i}")
    shutil.copy(tools.root / "testdata/src/elf_names.cc", tools.work / "small.cc")
    here = ["--sysroot", "here"]
    for what, count in (("samples", 2500), ("accesses", 1200), ("branches", 500)):
        capture, packed = made(tools, what, count), f"{what}.spk"
        yield ["convert", capture, "-o", f"bare.{packed}", "--json", *(["--keep-branches"] if what == "branches" else [])]
        yield ["symbolize", f"bare.{packed}", "-o", packed, "--json", *here]
        yield ["symbolize", f"bare.{packed}", "-o", f"short.{packed}", "--no-inlines", "--json", *here]
        for listing in ("functions", "names", "modules", "losses"):
            yield from (["dump", packed, f"--{listing}"], ["dump", f"short.{packed}", f"--{listing}", "--json"])
        for grain in ("function", "line", "file", "module", "callstack", "package"):
            yield from (["top", packed, "--by", grain, "-n", "40"], ["top", packed, "--by", grain, "--json", "--total", "--function-names", "linkage"])
        yield from (["top", packed, "--tree", "-n", "12"], ["top", capture, "--by", "line", "--json", *here])
        for function in FUNCTIONS:
            for words in ([], ["--json"], ["--sources", "."], ["--event", "cache-misses"]):
                yield ["annotate", packed, function, *here, *words]
            yield from ([report, packed, function, *words] for report in ("callers", "callees") for words in ([], ["--json", "-n", "3"]))
            yield from (["top", packed, option, function, "--json"] for option in ("--focus", "--ignore", "--hide", "--only"))
        yield from (["export", packed, "--format", form, "-o", "-", *words] for form in FORMS for words in ([], ["--from", "+10ms", "--to", "+20ms"]))
        yield from (["export", packed, "--format", "folded", "-o", "-", *words] for words in (["--inline"], ["--frames", "module"], ["--root", "process"]))
        yield ["export", packed, "--format", "html", "-o", "-", "--sources", ".", *here]
        yield ["export", packed, "--format", "csv", "-o", "tables"]
        for words in ([], ["--keep-modules", "demo0"], ["--keep-modules", "demo[12]"]):
            yield ["redact", packed, "-o", "hidden.spk", "--json", *words]
            yield from (["dump", "hidden.spk", "--functions"], ["top", "hidden.spk", "--by", "line", "-n", "30"])
        yield ["merge", packed, f"short.{packed}", "-o", "merged.spk", "--json"]
        yield from (["top", "merged.spk", "--by", "line", "-n", "30"], ["dump", "merged.spk", "--functions"])
        yield from (["diff", packed, "--against", f"short.{packed}", "--by", grain, "-n", "10", "--json"] for grain in ("function", "line", "callstack"))
        yield ["collect", capture, "-o", "out.zip", "--json", *here]
    for by in ([], ["--by", "symbol"], ["--by", "symbol", "--json"], ["--limit", "2", "--json"]):
        yield ["mem", "accesses.spk", *by, *here]
    for words in ([], ["--json"], ["--sort", "mispredicted"], ["-n", "3"], ["--function-names", "short", "--json", "-n", "0"]):
        yield ["branches", "branches.spk", *words, *here]
    for form in PROFILES:
        for binary in ("demo0", "demo2"):
            for words in ([], ["--head-duplicates", "drop", "--wrong-path", "drop"]):
                yield ["export", "branches.spk", "--format", form, "--binary", f"here/usr/bin/{binary}", "-o", "-", *words]
        yield ["export", "branches.spk", "--format", form, "--all-images", "tables", "--sysroot", "here"]


def one_after_the_other(tools):
    """Captures of formats that may follow each other in a file, and what follows that does not belong there."""
    names = tools.inputs([f"testdata/{name}" for name in ("jfr/java.jfr.gz", "jfr/async.jfr.gz", "tiny.script.txt", "small.nettrace", "tiny.perf.data",
                                                          "tiny-pipe.perf.data", "sampled.x64.etl")])
    datas = {name: (tools.work / name).read_bytes() for name in names}
    datas |= {name[:-3]: gzip.decompress(data) for name, data in datas.items() if name.endswith(".gz")}
    for name, data in list(datas.items()):
        whole = name.endswith(".gz")
        for i, joined in enumerate((data + data, data + datas["async.jfr"], data + b"\0" * 100, data + data[:len(data) // 2], data + data[7:])):
            file = f"{i}.{name}"
            (tools.work / file).write_bytes(joined)
            yield ["convert", file, "-o", "made.spk", "--json", "--force"]
            for listing in LISTINGS if i < 2 and not whole else ("samples", "losses"):
                yield ["dump", "made.spk", f"--{listing}"]
            yield ["stats", "made.spk", "--json"]


GROUPS = {"in_images": in_images, "one_after_the_other": one_after_the_other}

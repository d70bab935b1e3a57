#!/usr/bin/env python3
"""`stackpack redact`: what must not be in the file cannot be read in it, what is measured stays, the same key gives the same bytes.

    redact_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
CAPTURES = ("named/words.perf.data", "events.perf.data", "sampled.x64.etl", "small.nettrace", "threads.perf.data")
EVENT_WORDS = {"events"}  # also in names of losses
ANSWERS = (["dump", "--stacks"], ["dump", "--ranges"], ["dump", "--branches"], ["dump", "--intervals"], ["dump", "--events"])


def run(*words, check=True):
    return subprocess.run([PROGRAM, *map(str, words)], check=check, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def listing(file, kind):
    return json.loads(run("dump", f"--{kind}", "--json", file).stdout)


def secrets_of(file):
    """Texts that name something of the recorded machine."""
    texts = {row["name"] for kind in ("processes", "threads", "functions") for row in listing(file, kind)}
    texts |= {row["command_line"] for row in listing(file, "processes")}
    texts |= {row["linkage"] for row in listing(file, "functions")} | {row["file"] for row in listing(file, "functions")}
    texts |= {row.get(key, "") for row in listing(file, "names") for key in ("function", "file", "linkage")}
    texts |= {row[key] for row in listing(file, "modules") if not row["path"].startswith("[") for key in ("path", "build_id", "debug_name")}
    texts |= {row["value"] for row in listing(file, "metadata") if row["key"] in ("host.name", "command_line", "source.identity", "os.root")}
    for row in listing(file, "event-values"):
        texts |= {value for key, value in row.items() if isinstance(value, str) and key != "kind"}
    return {text for text in texts if len(text) > 4 and not text.startswith("[")}


def shown(file):
    """All that can be read of a file."""
    kinds = ("processes", "threads", "modules", "metadata", "functions", "names", "event-values")
    return "\n".join(run("dump", f"--{kind}", file).stdout.decode() for kind in kinds) + json.dumps(json.loads(run("stats", "--json", file).stdout)["recording"])


def figures(file):
    """Sums by function in their order, without names."""
    rows = json.loads(run("top", "--json", "-n", "0", "--idle", file).stdout)["rows"]
    return sorted((row["self"], row["total"]) for row in rows)


def check_values(name, before, after, said):
    """Texts have stand-ins, the same for the same text; all else stays."""
    assert len(before) == len(after) and (len(before) > 0) == name.endswith(".nettrace"), (name, len(before), len(after))
    stand_ins = {}
    for plain, redacted in zip(before, after):
        assert plain.keys() == redacted.keys(), (name, plain, redacted)
        for key, value in plain.items():
            if isinstance(value, str) and key != "kind" and value:
                assert redacted[key].startswith("text_") and stand_ins.setdefault(value, redacted[key]) == redacted[key], (name, key, redacted)
            else:
                assert value == redacted[key], (name, key, plain, redacted)
    assert len(set(stand_ins.values())) == len(stand_ins), name
    assert f", {len(stand_ins)} event text" in said and ", 0 event values" in said, (name, said, stand_ins)


def check_capture(folder, name, bundle):
    """All names replaced, all figures kept."""
    plain, out = folder / "plain.spk", folder / "out.spk"
    run("convert", "-q", "-s", SOURCE / "testdata" / name, *bundle, "-o", plain)
    said = run("redact", plain, "-o", out).stdout.decode()
    run("verify", out)
    check_values(name, listing(plain, "event-values"), listing(out, "event-values"), said)
    text = shown(out)
    found = {secret for secret in secrets_of(plain) if secret in text}
    assert not found, (name, sorted(found)[:9])
    if shutil.which("zstd"):  # blocks are frames of zstd: all that is stored
        stored = subprocess.run(["zstd", "-dcq", out], check=True, stdout=subprocess.PIPE).stdout
        assert not {secret for secret in secrets_of(plain) - EVENT_WORDS if secret.encode() in stored}, name
    for answer in ANSWERS:
        assert run(*answer, plain).stdout == run(*answer, out).stdout, (name, answer)
    assert figures(plain) == figures(out), name
    before, after = (listing(file, "samples") for file in (plain, out))
    for row in before + after:
        row.pop("comm", None)
    assert before == after, name
    assert not any(row["key"] in ("host.name", "command_line", "source.identity") for row in listing(out, "metadata"))
    again = folder / "again.spk"
    run("redact", "-q", plain, "-o", again)
    assert again.read_bytes() == out.read_bytes()


def check_key(folder):
    """Hashes depend on the key and the text alone."""
    (folder / "key").write_text("one")
    (folder / "other").write_text("two")
    (folder / "empty").write_text("")
    plain = folder / "words.spk"
    run("convert", "-q", "-s", SOURCE / "testdata/named/words.perf.data", "--symbols", SOURCE / "testdata/named/words.zip", "-o", plain)
    names = {}
    for key in ("key", "other"):
        run("redact", "-q", plain, "--key", folder / key, "-o", folder / f"{key}.spk")
        run("verify", folder / f"{key}.spk")
        names[key] = {row["name"] for row in listing(folder / f"{key}.spk", "functions")}
    assert not names["key"] & names["other"]
    # Of other samples of the same program the names are the same.
    run("merge", plain, "-o", folder / "merged.spk")
    refused = run("redact", folder / "merged.spk", "-o", folder / "no.spk", check=False)
    assert refused.returncode == 2 and b"merged" in refused.stderr and not (folder / "no.spk").exists()
    run("redact", "-q", plain, "--key", folder / "key", "--keep-modules", "libc.so*", "-o", folder / "kept.spk")
    run("verify", folder / "kept.spk")
    kept, hashed = listing(folder / "kept.spk", "functions"), listing(folder / "key.spk", "functions")
    originals = listing(plain, "functions")
    paths = {number: row["path"] for number, row in enumerate(listing(plain, "modules"))}
    count = 0
    for row, other, original in zip(kept, hashed, originals):
        is_kept = "libc.so" in paths[row["module"]] if "module" in row else False
        assert (row["name"] == original["name"]) == is_kept, (row, original)
        assert is_kept or row["name"] == other["name"], (row, other)
        count += is_kept
    assert 0 < count < len(kept)
    assert run("redact", plain, "--key", folder / "empty", "-o", folder / "no.spk", check=False).returncode == 1
    assert run("redact", plain, "-o", plain, "--force", check=False).returncode == 1


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name in CAPTURES:
            check_capture(folder, name, ["--symbols", SOURCE / "testdata/named/words.zip"] if "words" in name else [])
        check_key(folder)


if __name__ == "__main__":
    main()

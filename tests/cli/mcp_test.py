#!/usr/bin/env python3
"""`stackpack mcp` as a client sees it: answers are those of the commands, short, of allowed files alone; bad messages get errors.

    mcp_test.py PROGRAM SOURCE_DIR SANITIZED

With SANITIZED 1, an instrumented program, memory is not measured.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from mcp_client import McpClient  # noqa: E402

PROGRAM, SOURCE, SANITIZED = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] == "1"
LIMIT = 8192


def run(*words):
    return subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def text_of(result):
    return result["content"][0]["text"]


def check_same_answers(client, file):
    """Each answer is what the command prints that it names."""
    hot = next(row["name"] for row in client.ask("top", file=file)["rows"] if not row["name"].startswith("["))
    calls = [("top", {}), ("top", {"by": "module", "order": "total", "rows": 2}), ("top", {"rows": 1000}), ("tree", {"rows": 9}),
             ("top", {"focus": [hot], "comm": ["words", "none"], "from": "+0s"}), ("callers", {"function": hot}), ("callees", {"function": "main"}),
             ("source", {"function": hot}), ("callstacks", {"focus": hot, "rows": 1}), ("callstack", {"id": 3, "rows": 4})]
    for tool, arguments in calls:
        result = client.call(tool, file=file, **arguments)
        assert not result.get("isError", True), (tool, arguments, result)
        command = result["_meta"]["stackpack/command"]
        printed = run(*command)
        assert text_of(result) == printed, (command, text_of(result), printed)
        assert len(text_of(result).encode()) <= LIMIT, command
        if tool == "callstack":
            assert "structuredContent" not in result, result  # it has to be an object
        else:
            answer = json.loads(text_of(result))
            assert result["structuredContent"] == answer, command
            assert answer["rows"], command
            words = ["--rows=0" if word.startswith("--rows=") else word for word in command]
            whole = json.loads(run(*words))
            assert len(whole["rows"]) == len(answer["rows"]) + answer["rows_left_out"], command
    # The sums that are kept say of every function what counting says, of those that call themselves, too.
    for row in client.ask("top", file=file, rows=12, order="total")["rows"]:
        for tool in ("callers", "callees"):
            result = client.call(tool, file=file, function="id:" + row["id"], rows=1000)
            assert text_of(result) == run(*result["_meta"]["stackpack/command"]), (tool, row)
    result = client.call("diff", before=[file], after=[file], rows=3)
    assert text_of(result) == run(*result["_meta"]["stackpack/command"]), result
    assert result["structuredContent"]["events"][0]["row_count"] > 3 == len(result["structuredContent"]["events"][0]["rows"]), result
    for row in client.ask("top", file=file, rows=5)["rows"]:  # an id is a function, by the graph and by counting
        for words in ({}, {"from": "+0s"}):
            of_id, of_name = (client.ask("callers", file=file, function=function, **words) for function in ("id:" + row["id"], row["name"]))
            assert of_id["rows"] == of_name["rows"] and of_id["function"]["id"] == row["id"], (of_id, of_name)
    stats = json.loads(run("stats", "--json", file))
    summary = client.ask("summary", file=file)
    for key in ("file_bytes", "processes", "threads", "modules", "events"):
        assert summary[key] == stats[key], (key, summary[key], stats[key])
    assert summary["samples"]["total"] == stats["samples"]["total"] and summary["callstacks"]["unique"] == stats["callstacks"]["unique"]
    modules = json.loads(run("top", "--by", "module", "--json", "-n", "8", file))
    assert [(row["name"], row["self"]) for row in summary["by_module"]["rows"]] == [(row["name"], row["self"]) for row in modules["rows"]]
    for command in client.ask("top", file=file)["next"]:
        subprocess.run(f"{PROGRAM} {command}", shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_short_answers(folder, file):
    """With a small limit rows are left out, and the rest is still the command's answer."""
    client = McpClient(PROGRAM, folder, "--max-bytes", 1024)
    for tool, arguments in (("top", {"rows": 500}), ("tree", {"rows": 500}), ("callees", {"function": "main"}), ("callstack", {"id": 5, "rows": 500})):
        result = client.call(tool, file=file, **arguments)
        assert len(text_of(result).encode()) <= 1024, result
        assert text_of(result) == run(*result["_meta"]["stackpack/command"])
    (folder / "deep.folded").write_text(";".join(f"function_{i}" for i in range(200)) + " 7\n")
    run("convert", "-q", folder / "deep.folded", "-o", folder / "deep.spk")
    long = client.call("callstacks", file="deep.spk", rows=1)
    assert "structuredContent" not in long, long  # it is no whole object
    assert len(text_of(long).encode()) < 1024 + 200 and "bytes left out" in text_of(long), long
    assert client.close() == (0, b"")
    for name in ("deep.folded", "deep.spk"):
        (folder / name).unlink()


def check_folders(folder, outside):
    """Nothing outside is opened, by whatever path."""
    os.symlink(outside, folder / "link.spk")
    os.symlink("words.spk", folder / "inner.spk")
    os.symlink(outside.parent, folder / "linked")
    os.mkfifo(folder / "pipe.spk")
    client = McpClient(PROGRAM, folder)
    listed = [pathlib.Path(row["file"]).name for row in client.ask("open")["files"]]
    assert listed == ["inner.spk", "words.spk"], listed
    assert client.ask("top", file="inner.spk", rows=1)["rows"]
    for path in (str(outside), "link.spk", "linked/other.spk", "../outside/other.spk", f"{folder}/../outside/other.spk", "/etc/passwd",
                 "/no/such/file", "", "missing.spk", "pipe.spk", "linked", ".", "a\0b", "x" * 5000):
        for tool, arguments in (("top", {"file": path}), ("open", {"file": path}), ("diff", {"before": path, "after": ["words.spk"]})):
            result = client.call(tool, **arguments)
            assert result.get("isError") or result.get("code") == -32602, (path, result)
            assert "weight" not in json.dumps(result), (path, result)
    # What looks like an option is none.
    result = client.call("callers", file="words.spk", function="--json")
    assert result["isError"] and "no function" in text_of(result), result
    result = client.call("callers", file="words.spk", function="--symbols=/etc")
    assert result["isError"] and "no function" in text_of(result), result
    assert client.close() == (0, b"")


def check_warm(folder):
    """A file that was replaced is read anew, and one that is damaged is an error of its own."""
    client = McpClient(PROGRAM, folder)
    before = client.ask("top", file="words.spk")
    # What was counted for one number of rows answers for any other.
    for tool in ("tree", "summary", "open"):
        for rows in (1, 40, 3) if tool == "tree" else (0, 0):
            result = client.call(tool, file="words.spk", **({"rows": rows} if rows else {}))
            assert not result["isError"], result
            if tool == "tree":
                assert text_of(result) == run(*result["_meta"]["stackpack/command"]).replace(str(folder / "words.spk"), "words.spk"), result
    by_reason = client.call("top", file="words.spk", by="reason")
    assert by_reason["isError"] or "rows" in text_of(by_reason), by_reason
    (folder / "new.spk").write_bytes((SOURCE / "testdata/spk/v1/perf-events.spk").read_bytes())
    os.replace(folder / "new.spk", folder / "words.spk")
    assert client.ask("top", file="words.spk") != before
    (folder / "bad.spk").write_bytes((SOURCE / "testdata/spk/v1/perf-events.spk").read_bytes()[:-40])
    result = client.call("top", file="bad.spk")
    assert result["isError"] and text_of(result).startswith("bad.spk: "), result
    assert client.ask("top", file="words.spk")["rows"]
    assert client.close() == (0, b"")


def check_first_answers(folder, file):
    """What is counted before it is asked for is what the commands print, whichever question comes first; files that are replaced, and
    more of them than stay open, while they are counted end nothing."""
    names = [row["name"] for row in json.loads(run("top", "--json", "-n", "9", file))["rows"] if not row["name"].startswith("[")]
    questions = [("tree", {}), ("callstacks", {}), ("callstacks", {"rows": 1000}), ("top", {"by": "module"}), ("top", {"by": "process", "rows": 2}),
                 ("callers", {"function": names[0]}), ("source", {"function": names[0]}), ("summary", {})]
    for first in range(len(questions)):
        client = McpClient(PROGRAM, folder)
        if first % 2 == 1:
            client.ask("open", file=file)
        for tool, arguments in questions[first:] + questions[:first]:
            result = client.call(tool, file=file, **arguments)
            assert not result["isError"], result
            if tool != "summary":
                assert text_of(result) == run(*result["_meta"]["stackpack/command"]), (first, tool, arguments)
        assert client.close() == (0, b"")
    client = McpClient(PROGRAM, folder)
    for name in names:  # by the lines of all functions, once they are known
        for words in ({}, {"rows": 1}):
            result = client.call("source", file=file, function=name, **words)
            assert not result["isError"] and text_of(result) == run(*result["_meta"]["stackpack/command"]), (name, words)
    missing = client.call("source", file=file, function="no such function")
    assert missing["isError"] and "no sample is in a function" in text_of(missing), missing
    content = pathlib.Path(file).read_bytes()
    copies = [folder / f"copy{i}.spk" for i in range(10)]
    for copy in copies:
        copy.write_bytes(content)
        client.ask("open", file=copy.name)
    (folder / "new.spk").write_bytes((SOURCE / "testdata/spk/v1/perf-events.spk").read_bytes())
    os.replace(folder / "new.spk", copies[-1])
    assert client.ask("top", file=copies[-1].name) != client.ask("top", file=copies[0].name)
    assert client.close() == (0, b"")
    for copy in copies:
        copy.unlink()


def check_redacted(folder, file):
    """Answers have what the same file has when `redact` has been at it, and no name."""
    key = folder.parent / "key"
    key.write_bytes(b"a key of a test")
    for options in ([], ["--key", str(key)], ["--keep-modules", "libc*"]):
        redacted = folder.parent / "redacted.spk"
        run("redact", file, "-o", redacted, *options)
        client = McpClient(PROGRAM, folder, "--redact", *options)
        hot = client.ask("top", file=file)["rows"][0]["name"]
        said = ""
        for tool, arguments in (("top", {}), ("tree", {}), ("callers", {"function": hot}), ("source", {"function": hot}), ("callstacks", {}), ("callstack", {"id": 3}),
                                ("summary", {}), ("open", {}), ("top", {"by": "process"}), ("top", {"by": "module"}), ("callers", {"function": "no such"})):
            result = client.call(tool, file=file, **arguments)
            assert "_meta" not in result, result
            said += json.dumps(result)
        plain = McpClient(PROGRAM, folder.parent)
        for tool, arguments in (("top", {}), ("callers", {"function": hot}), ("callstack", {"id": 3})):
            expected = text_of(plain.call(tool, file=str(redacted), **arguments)).replace(str(redacted), file)
            assert text_of(client.call(tool, file=file, **arguments)) == expected, (tool, options)
        assert plain.close() == (0, b"")
        for name in ("each_word", "Trie", "words.cc") + (() if "--keep-modules" in options else ("libc.so",)):
            assert name not in said, (name, said)
        result = client.call("diff", before=[file], after=[file])
        assert result["isError"] == ("--key" not in options), result
        assert client.close() == (0, b"")
        redacted.unlink()
    key.unlink()
    for wrong in (["--key", file], ["--keep-modules", "x"]):
        done = subprocess.run([PROGRAM, "mcp", str(folder), *wrong], input=b"", stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1 and b"go with --redact" in done.stderr, done


def check_waits(folder):
    """Waits are the command's; a file without any says so."""
    subprocess.run([sys.executable, "-B", SOURCE / "tests/cli/make_capture.py", folder / "switches.perf.data", "12", "--switches"], check=True)
    run("convert", "-q", folder / "switches.perf.data", "-o", folder / "switches.spk")
    client = McpClient(PROGRAM, folder)
    for arguments in ({}, {"rows": 1}, {"state": ["blocked"], "longer_than": "50us"}, {"thread": "work*", "from": "+1ms", "to": "+2ms"}):
        result = client.call("waits", file=str(folder / "switches.spk"), **arguments)
        assert not result["isError"] and "blocked" in text_of(result), (arguments, result)
        assert text_of(result) == run(*result["_meta"]["stackpack/command"]), (arguments, result)
    result = client.call("waits", file="words.spk")
    assert result["isError"] and text_of(result).startswith("words.spk: "), result
    assert client.close() == (0, b"")
    for name in ("switches.perf.data", "switches.spk"):
        (folder / name).unlink()


def check_events(folder):
    """What events say is the tables of the commands; a capture without them says what to record."""
    (folder / "small.nettrace").write_bytes((SOURCE / "testdata/small.nettrace").read_bytes())
    file = str(folder / "small.nettrace")
    client = McpClient(PROGRAM, folder)
    for tool, arguments in (("info", {}), ("gc", {"rows": 1}), ("exceptions", {}), ("exceptions", {"by": "message", "rows": 2}), ("locks", {}),
                            ("locks", {"by": "callstack", "all": True, "longer_than": "1us"}), ("info", {"rows": 1})):
        result = client.call(tool, file=file, **arguments)
        assert not result["isError"] and "structuredContent" not in result, (tool, result)
        assert text_of(result) == run(*result["_meta"]["stackpack/command"]), (tool, arguments, result)
    asked = text_of(client.call("info", file=file))
    for tool in ("gc", "exceptions", "locks"):  # what info says is answered is answered
        assert f"stackpack {tool} " in asked and "records" not in text_of(client.call(tool, file=file)), tool
    for tool in ("jit", "io", "mem"):
        assert f"stackpack {tool} " not in asked and "record" in text_of(client.call(tool, file=file)), tool
    for arguments in ({"all": 1}, {"by": "none"}, {"order": "bytes"}):
        assert client.call("locks", file=file, **arguments).get("code") == -32602, arguments
    assert client.close() == (0, b"")
    (folder / "small.nettrace").unlink()


def check_foreign_files(folder):
    """A file that is no capture is not listed, and an error says what it is."""
    foreign = {"empty.spk": (b"", "empty"), "notes.txt": (b"hello\nworld\n", "text that is no profile"), "program": (b"\x7fELF\2\1\1\0", "an ELF file"),
               "noise.spk": (bytes(range(200)), "unknown binary data")}
    for name, (content, _) in foreign.items():
        (folder / name).write_bytes(content)
    client = McpClient(PROGRAM, folder)
    assert {pathlib.Path(row["file"]).name for row in client.ask("open")["files"]} == {"words.spk"}
    for name, (_, kind) in foreign.items():
        for tool in ("open", "summary", "top", "page"):
            result = client.call(tool, file=name)
            first, *tried = text_of(result).splitlines()
            assert result["isError"] and first.startswith(f"{name} is {kind}"), (tool, result)
            reasons = subprocess.run([PROGRAM, "top", folder / name], capture_output=True, text=True, check=False).stderr
            assert len(tried) == reasons.count("not read as ") and all(line in reasons.replace(f"{folder / name}: ", "") for line in tried), (tool, tried, reasons)
        (folder / name).unlink()
    assert client.close() == (0, b"")


def check_messages(folder):
    """Whatever a line is, the next one is answered."""
    client = McpClient(PROGRAM, folder)
    tools = client.request("tools/list")["tools"]
    assert len({tool["name"] for tool in tools}) == len(tools) >= 10
    assert all(tool["inputSchema"]["type"] == "object" and tool["annotations"]["readOnlyHint"] for tool in tools)
    assert client.request("initialize", {"protocolVersion": "2024-11-05"})["protocolVersion"] == "2024-11-05"
    assert client.request("initialize", {"protocolVersion": 5})["protocolVersion"] == "2025-06-18"
    lines = [(b"{", -32700), (b"\xff\xfe", -32700), (b"[]", -32600), (b"null", -32600), (b"[" * 100_000, -32600),
             (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, -32600),
             (b"x" * 3_000_000, -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600), (b'{"id":1,"method":"ping"}', -32600),
             (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601), (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":3}', -32602)]
    for line, code in lines:
        client.send(line)
        answer = client.receive()
        assert answer["error"]["code"] == code, (line[:60], answer)
        assert client.request("ping") == {}
    for arguments in ({"file": 3}, {"file": None}, {}, {"file": "words.spk", "rows": -1}, {"file": "words.spk", "rows": "5"}, {"file": ["words.spk"]},
                      {"file": "words.spk", "unknown": 1}, {"file": "words.spk", "by": "magic"}, {"file": "words.spk", "comm": [1]},
                      {"file": "words.spk", "focus": ["a"] * 1000}, {"file": "words.spk", "order": "up"}):
        assert client.request("tools/call", {"name": "top", "arguments": arguments})["code"] == -32602, arguments
    for params in ({"name": "rm"}, {"name": 3}, {}, {"name": "top", "arguments": 3}):
        assert client.request("tools/call", params)["code"] == -32602, params
    for bad in ({"function": "/(/"}, {"function": "main", "from": "yesterday"}):
        result = client.call("callers", file="words.spk", **bad)
        assert result["isError"], result
    client.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}')  # no answer
    status = pathlib.Path(f"/proc/{client.process.pid}/status").read_text()
    peak = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
    assert SANITIZED or peak < 128 * 1024, peak
    assert client.close() == (0, b"")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder, outside = pathlib.Path(scratch).resolve() / "inside", pathlib.Path(scratch).resolve() / "outside"
        folder.mkdir()
        outside.mkdir()
        file = folder / "words.spk"
        run("convert", "-s", SOURCE / "testdata/named/words.perf.data", "--symbols", SOURCE / "testdata/named/words.zip", "-o", file)
        (outside / "other.spk").write_bytes(file.read_bytes())
        client = McpClient(PROGRAM, folder)
        check_same_answers(client, str(file))
        assert client.close() == (0, b"")
        check_first_answers(folder, str(file))
        check_short_answers(folder, str(file))
        check_redacted(folder, str(file))
        check_waits(folder)
        check_events(folder)
        check_foreign_files(folder)
        check_messages(folder)
        check_folders(folder, outside / "other.spk")
        check_warm(folder)
        refused = subprocess.run([PROGRAM, "mcp", str(file)], input=b"", stderr=subprocess.PIPE, check=False)
        assert refused.returncode == 1 and b"is not a folder" in refused.stderr, refused


if __name__ == "__main__":
    main()

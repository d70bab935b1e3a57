"""Laws that every answer of the program keeps, whatever it was asked: Laws(tools).problems(...) names those that one breaks.

An answer is asked again in another way - in JSON, without its limit, with one filter at a time, a second time - and what is written
is read. So the laws hold for any capture, also for one that nobody has looked at, and no answer has to be stored.
"""
import collections
import json
import pathlib
import re
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from json_schema import definition, validate  # noqa: E402  pylint: disable=wrong-import-position

STATUSES = (0, 1, 2, 3)  # of docs/cli.md; there is room on the disk, and nothing is broken inside
SCHEMAS = {"top": "report", "callers": "report", "callees": "report", "diff": "../diff"}
SAME = {"--fields": "--event-values"}
BASELINES = ("baseline", "trend")  # of a folder; a file is none, says the system
TABLES = ("top", "callers", "callees")
WHOLE = ("process", "thread", "event")  # every sample has one of these
# In JSON a field `pid` of a tracepoint is a second key of that name, and a line without a file is left out.
LESS_IN_JSON = {"--event-values", "--fields", "--names"}
WRITERS = ("convert", "merge", "cut", "redact", "symbolize", "collect", "baseline")
FILTERS = ("--pid", "--tid", "--cpu", "--comm", "--exclude-comm", "--module", "--exclude-module", "--event", "--exclude-event", "--from", "--to")
TEXTS = re.compile(r"import_|script|\.folded")  # formats without any check of their own: a digit is as good as another
MESSAGE = re.compile(rb"stackpack: .*")


def value_after(command, *names):
    """The word after an option; nothing where it is not there."""
    for word, following in zip(command, command[1:]):
        if word in names:
            return following
    return None


def without(command, *names):
    """A command without an option and its word."""
    kept, skipped = [], False
    for word in command:
        if not skipped and word not in names:
            kept.append(word)
        skipped = not skipped and word in names
    return kept


def rows_of(value):
    return value if isinstance(value, list) else value.get("rows", [])


def words_of(value):
    """What of a row of JSON stands in its line of text."""
    if isinstance(value, dict):
        return [word for key, part in value.items() for word in (key, *words_of(part))]
    if isinstance(value, list):
        return [word for part in value for word in words_of(part)]
    return [] if value is None or isinstance(value, bool) else [f"{value:g}" if isinstance(value, float) else str(value)]


def single(pairs):
    """An object of JSON whose keys are each there once."""
    keys = [key for key, _ in pairs]
    if len({*keys}) != len(keys):
        raise ValueError(f"a key stands twice: {keys}"[:200])
    return dict(pairs)


def is_known(word, known):
    """Whether a word of a line of text stands in its row of JSON: times have a point there, numbers may be hexadecimal."""
    word = word.replace("\\\\", "\\")
    if word.startswith("0x") and "/" in word:  # a branch
        return all(is_known(part, known) for part in word.split("/")[:2])
    if word.startswith("0x") and word not in known:
        word = str(int(word, 16))
    return word == "-" or "\\x" in word or word in known or word.replace(".", "").lstrip("0") in known


class Laws:
    """The laws, for one group of commands in one folder."""

    def __init__(self, tools):
        self.tools, self.asked = tools, {}
        self.schemas = {}

    def schema(self, command):
        name = SCHEMAS.get(command[0], command[0])
        if name not in self.schemas:
            path = self.tools.root / f"docs/schemas/{name}.schema.json"
            self.schemas[name] = json.loads(path.read_text()) if path.exists() else None
        schema = self.schemas[name]
        listings = [SAME.get(word, word)[2:] for word in command if SAME.get(word, word)[2:] in (schema or {}).get("$defs", {})]
        return definition(schema, listings[0]) if command[0] == "dump" and listings else schema

    def again(self, command):
        """Another question about the same files; what was asked before is not asked twice."""
        return self.tools.run_alone(command)

    def rows(self, command):
        code, output, _ = self.again(command)
        return rows_of(json.loads(output)) if code == 0 and output[:1] in (b"[", b"{") else None

    def output_of(self, command):
        """The .spk file that a command writes."""
        name = value_after(command, "-o", "--output")
        return self.tools.work / name if name and name.endswith(".spk") else None

    def state_of_output(self, command):
        path = self.output_of(command)
        return (path.stat().st_mtime_ns, path.stat().st_size) if path is not None and path.exists() else None

    def problems(self, command, before, code, output, messages):
        """Each law that an answer breaks; `before`: the state of its output until then."""
        yield from self.status(command, code, output, messages)
        if command[0] == "mcp":
            yield from self.conversation(output) if self.tools.input else ()
            return
        if code != 1 and "--json" in command and output and not {"--help", "--folded"} & {*command}:
            yield from self.json(command, output)
        if self.output_of(command) is not None:
            yield from self.written(command, code, before)
        if command[0] in WRITERS or code != 0 or self.tools.input:
            return
        if value_after(command, "-n", "--limit") not in (None, "0"):
            yield from self.limited(command)
        if "--json" not in command and command[0] == "dump" and output and not LESS_IN_JSON & {*command}:
            yield from self.listing(command, output)
        if "--json" not in command and command[0] in TABLES and "--tree" not in command:
            yield from self.table(command, output)
        if command[:1] + command[2:3] == ["dump", "--samples"]:
            yield from self.filtered(command)
        if zlib.crc32(repr(command).encode()) % 16 == 0 and command[0] not in ("stats", "view") and not {"tables", "out.x", "out.html", "out.xml"} & {*command}:
            if self.again(command)[:2] != (code, output):
                yield "another answer the second time"

    def status(self, command, code, output, messages):
        """A documented status; an error has a line that says so, and every line of it is one of ours."""
        if code not in STATUSES and (code != 4 or command[0] not in BASELINES):
            yield f"status {code}"
        lines = messages.splitlines()
        if code in (1, 2) and not lines:
            yield f"status {code} without a message"
        if code == 3 and not lines and not output:
            yield "a check that fails and says nothing"
        odd = [line for line in lines if not MESSAGE.match(line)]
        if code == 2 and odd:
            yield f"a message of another form: {odd[0][:100]!r}"
        if code == 1 and output and command[0] not in ("help", "convert", "dump", "symbolize"):
            yield "an answer to a wrong command line"

    def conversation(self, output):
        """Each line is an answer of JSON-RPC, and ids are not answered twice."""
        ids = []
        for line in output.splitlines():
            answer = json.loads(line)
            if answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
                yield f"not an answer: {line[:100]!r}"
            ids.append(json.dumps(answer.get("id")))
        if [id_ for id_, count in collections.Counter(ids).items() if count > 1 and id_ != "null"]:
            yield "an id is answered twice"

    def json(self, command, output):
        """JSON is as docs/schemas has it, no key stands twice, and sums in it add up."""
        try:
            value = json.loads(output, object_pairs_hook=dict if LESS_IN_JSON & {*command} else single)
        except ValueError as error:
            yield f"no JSON: {error}"
            return
        schema = self.schema(command)
        if schema is not None:
            yield from validate(value, schema, schema)[:3]
        if command[0] in TABLES and "--tree" not in command:
            yield from self.sums(command, value)
        if command[0] == "convert" and isinstance(value, list):
            yield from self.damaged(value)
        for file in value if command[0] == "stats" and isinstance(value, list) else [value] if command[0] == "stats" else []:
            source = file.get("source", {})
            kinds = source.get("bytes_by_kind", {})
            if any(kinds.values()) and sum(kinds.values()) != source["bytes"]:
                yield f"bytes {kinds} of {source['bytes']}"
            if kinds and sum(source["skipped_by_reason"].values()) != kinds["skipped"]:
                yield "reasons for skipped bytes do not add up"

    def damaged(self, files):
        """Of a damaged capture: fewer samples than there were, and the damage is counted."""
        for file in files:
            name = re.fullmatch(r".*\.damaged/[0-9]{3}-\w+?\.(.*)", file.get("input", ""))
            if name is None or file.get("result") != "converted" or TEXTS.search(name[1]):
                continue
            whole = self.whole(name[1])
            if whole is not None and file["samples"] < whole and not file["lossy"] and not any(file["losses"].values()):
                yield f"{file['input']}: {file['samples']} of {whole} samples, and no loss"

    def whole(self, name):
        """Samples of a capture that is not damaged."""
        if name not in self.asked:
            source = name if (self.tools.work / name).exists() else f"{name}.gz"
            code, output, _ = self.again(["convert", source, "-o", "whole.spk", "--force", "--json"])
            self.asked[name] = json.loads(output)["samples"] if code == 0 else None
        return self.asked[name]

    def sums(self, command, value):
        """Nothing is more than the whole, and rows that every sample has a part in are the whole."""
        rows = value["rows"]
        if any(row["total"] >= 1 << 63 for row in rows):
            return  # such sums wrap
        for row in rows:
            if not 0 <= row["self"] <= row["total"] <= max(value["weight"], 0):
                yield f"row {row['name'][:40]}: self {row['self']}, total {row['total']} of {value['weight']}"
        order = "total" if "--total" in command else "self"
        if command[0] == "top" and [row[order] for row in rows] != sorted((row[order] for row in rows), reverse=True):
            yield f"rows are not in the order of {order}"
        names = collections.Counter(json.dumps([part for key, part in row.items() if key not in ("self", "total", "next")]) for row in rows)
        if rows and max(names.values()) > 1 and command[0] == "top":
            yield f"two rows of {max(names, key=names.get)[:100]}"
        whole = sum(row["self"] for row in rows)
        if whole > value["weight"] or value["rows_left_out"] == 0 and value_after(command, "--by") in WHOLE and whole != value["weight"]:
            yield f"rows add up to {whole} of {value['weight']}"

    def written(self, command, code, before):
        """What is written can be read; a command that fails leaves what was there."""
        path = self.output_of(command)
        if code in (0, 3):
            status, _, messages = self.again(["verify", str(path)]) if path.exists() else (1, b"", b"not there")
            if status != 0:
                yield f"verify says of {path.name}: {messages[:100]!r}"
        elif self.state_of_output(command) != before and not {"--keep-going", "--check"} & {*command}:
            yield "fails, and has written"

    def limited(self, command):
        """--limit shows the first rows of all."""
        limit = int(value_after(command, "-n", "--limit"))
        if command[0] in ("diff", "trend", "annotate", "show", "branches", "waits") or "--tree" in command:
            return
        forms = [] if "--json" in command else ["--json"]
        all_of = [*without(command, "-n", "--limit"), *forms, *(["-n", "0"] if command[0] in TABLES else [])]
        shown, every = self.rows([*command, *forms]), self.rows(all_of)
        if shown is not None and every is not None and shown != every[:limit]:
            yield "not the first rows of the answer without a limit"

    def listing(self, command, output):
        """A line of text has nothing that the row of JSON does not have."""
        rows = self.rows([*command, "--json"])
        if rows is None:
            return
        lines = [line for line in output.decode(errors="replace").split("\n") if line and not line.startswith("#")]
        if len(lines) != len(rows):
            yield f"{len(lines)} lines of text, {len(rows)} rows of JSON"
            return
        in_order = not {"--branches", "--ranges"} & {*command}
        everything = "" if in_order else " ".join(words_of(rows))
        for line, row in zip(lines, rows):
            known = " ".join(words_of(row)) if in_order else everything
            extra = [word for word in re.split(r"[\s,]+|(?<=\w)=(?=\S)", line) if not is_known(word, known)]
            if extra:
                yield f"{extra[:3]} of {line[:100]} is not in the row of JSON"
                return

    def table(self, command, output):
        """The lines of a table have the names of JSON, in the same order, and the shares that its figures are."""
        code, text, _ = self.again([*command, "--json"])
        value = json.loads(text) if code == 0 and text[:1] == b"{" else {"rows": []}
        lines = [line for line in output.decode(errors="replace").splitlines() if re.match(r" *-?[0-9.]+% +-?[0-9.]+% ", line)]
        if len(lines) != len(value["rows"]):
            yield f"{len(lines)} lines of text, {len(value['rows'])} rows of JSON"
            return
        for line, row in zip(lines, value["rows"]):
            shares = [float(word) for word in re.findall(r"(-?[0-9.]+)%", line)[:2]]
            wanted = [100 * row[key] / value["weight"] if value["weight"] else 0 for key in ("self", "total")]
            if any(abs(one - other) > .0051 for one, other in zip(shares, wanted)):
                yield f"{line[:100]}: shares of {row}"[:300]
                return

    def filtered(self, command):
        """Samples that pass two filters are those that pass each of them."""
        given = [(word, following) for word, following in zip(command, command[1:]) if word in FILTERS]
        if len(given) != 2 or given[0][0] == given[1][0]:
            return
        bare = without(command, *FILTERS, "--limit")
        both, one, other = (self.samples([*bare, *(word for filter_ in chosen for word in filter_)]) for chosen in (given, given[:1], given[1:]))
        if None not in (both, one, other) and both != one & other:
            yield f"{both.total()} samples, {(one & other).total()} pass both filters"

    def samples(self, command):
        words = tuple(command)
        if words not in self.asked:
            code, output, _ = self.again(command)
            self.asked[words] = collections.Counter(output.splitlines()) if code == 0 else collections.Counter()
        return self.asked[words]

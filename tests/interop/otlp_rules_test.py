#!/usr/bin/env python3
"""Each rule of otlp_rules.py is broken by one message, and by that alone: otlp_rules_test.py

Needs the package opentelemetry-proto. A sound message is changed in one place at a time; the rule that is named must be among the
broken ones, and every rule must be named here.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import otlp_rules  # noqa: E402
from opentelemetry.proto.profiles.v1development import profiles_pb2  # noqa: E402

TEXTS = ["", "samples", "count", "cpu", "nanoseconds", "thread.id", "host", "/bin/demo", "main", "_main", "demo.c", "ns"]


def sound():
    data = profiles_pb2.ProfilesData()
    tables = data.dictionary
    tables.string_table.extend(TEXTS)
    for table in (tables.mapping_table, tables.location_table, tables.function_table, tables.link_table, tables.attribute_table,
                  tables.stack_table):
        table.add()
    for key, value in ((5, "1"), (5, "2"), (6, "here")):
        attribute = tables.attribute_table.add(key_strindex=key)
        attribute.value.string_value = value
    tables.attribute_table[1].unit_strindex = 11
    tables.mapping_table.add(memory_start=16, memory_limit=32, filename_strindex=7, attribute_indices=[3])
    tables.function_table.add(name_strindex=8, system_name_strindex=9, filename_strindex=10, start_line=3)
    location = tables.location_table.add(mapping_index=1, address=17)
    location.lines.add(function_index=1, line=4, column=2)
    tables.link_table.add(trace_id=bytes(range(16)), span_id=bytes(range(8)))
    tables.stack_table.add(location_indices=[1])
    profile = data.resource_profiles.add().scope_profiles.add().profiles.add(time_unix_nano=100, duration_nano=10)
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = 1, 2
    profile.period_type.type_strindex, profile.period_type.unit_strindex = 3, 4
    profile.samples.add(stack_index=1, attribute_indices=[1], link_index=1, values=[1, 2], timestamps_unix_nano=[100, 109])
    profile.samples.add(stack_index=1, attribute_indices=[2], values=[1], timestamps_unix_nano=[105])
    return data


def profile_of(data):
    return data.resource_profiles[0].scope_profiles[0].profiles[0]


def part_of(message, path):
    for step in path.split("."):
        message = message[int(step)] if step.isdigit() else getattr(message, step)
    return message


def set_to(path, value):
    """A change of one field, `path` from the message on."""
    def change(data):
        way, last = path.rsplit(".", 1)
        if last.isdigit():
            part_of(data, way)[int(last)] = value
        else:
            setattr(part_of(data, way), last, value)
    return change


def append_to(path, value):
    return lambda data: part_of(data, path).append(value)


PROFILE = "resource_profiles.0.scope_profiles.0.profiles.0"
SAMPLE = PROFILE + ".samples.1"


def without_values(data):
    for sample in profile_of(data).samples:
        del sample.timestamps_unix_nano[:]


def add_unknown(data):
    data.MergeFromString(b"\xf8\x7f\x01")  # field 2047


def indices():
    """A message for each field that is an index: past the end of its table, and before its beginning."""
    places = {"Sample": SAMPLE, "Profile": PROFILE, "ValueType": PROFILE + ".period_type", "Mapping": "dictionary.mapping_table.1",
              "Stack": "dictionary.stack_table.1", "Location": "dictionary.location_table.1",
              "Line": "dictionary.location_table.1.lines.0", "Function": "dictionary.function_table.1",
              "KeyValueAndUnit": "dictionary.attribute_table.1"}
    for kind, fields in otlp_rules.INDICES.items():
        for field, table in fields.items():
            for index in (-1, 99):
                change = append_to if field.endswith("_indices") else set_to
                yield f"{kind}.{field} is an entry of {table}", change(f"{places[kind]}.{field}", index)


def tables():
    for table in otlp_rules.TABLES:
        yield f"entry 0 of {table} stands for none", lambda data, table=table: getattr(data.dictionary, table).__delitem__(slice(None))
        yield f"no two entries of {table} are the same", \
            lambda data, table=table: getattr(data.dictionary, table).append(getattr(data.dictionary, table)[1])
        yield f"every entry of {table} is used", \
            lambda data, table=table: getattr(data.dictionary, table).append(getattr(data.dictionary, table)[1])
    yield "entry 0 of string_table stands for none", set_to("dictionary.string_table.0", "text")
    yield "entry 0 of attribute_table stands for none", set_to("dictionary.attribute_table.0.unit_strindex", 1)
    yield "entry 0 of function_table stands for none", set_to("dictionary.function_table.0.start_line", 1)


def attributes():
    yield "no two attributes of a Sample have the same key", lambda data: profile_of(data).samples[0].attribute_indices.append(2)
    for kind, place in (("Profile", profile_of), ("Mapping", lambda data: data.dictionary.mapping_table[1]),
                        ("Location", lambda data: data.dictionary.location_table[1])):
        yield f"no two attributes of a {kind} have the same key", \
            lambda data, place=place: place(data).attribute_indices.extend([1, 2])


def others():
    yield "there are resource profiles", lambda data: data.ClearField("resource_profiles")
    yield "a resource has scopes", lambda data: data.resource_profiles.add()
    yield "a scope has profiles", lambda data: data.resource_profiles[0].scope_profiles.add()
    yield "ProfilesData has no field that the schema does not know", add_unknown
    for field, place in (("line", "location_table.1.lines.0"), ("column", "location_table.1.lines.0"),
                         ("start_line", "function_table.1")):
        kind = "Function" if field == "start_line" else "Line"
        yield f"{kind}.{field} is not negative", set_to(f"dictionary.{place}.{field}", -1)
    for start, limit in ((32, 32), (33, 32), (1, 0)):
        def move(data, start=start, limit=limit):
            mapping = data.dictionary.mapping_table[1]
            mapping.memory_start, mapping.memory_limit = start, limit
        yield "a mapping begins before its end, or has neither", move
    yield "a link has a whole trace and span id", set_to("dictionary.link_table.1.trace_id", bytes(15))
    yield "a link has a whole trace and span id", set_to("dictionary.link_table.1.span_id", b"")
    for time in (99, 110):
        yield "a sample's times lie in [start, start + duration)", set_to(SAMPLE + ".timestamps_unix_nano.0", time)
    yield "a sample has as many values as times, where it has both", lambda data: profile_of(data).samples[0].values.append(1)
    yield "a sample has values or times", \
        lambda data: (profile_of(data).samples[1].ClearField("values"), profile_of(data).samples[1].ClearField("timestamps_unix_nano"))
    yield "a sample without times has one value", without_values
    yield "samples of a profile all have values, or times, or both", lambda data: profile_of(data).samples[1].ClearField("values")
    yield "a callstack with its attributes is one sample", lambda data: profile_of(data).samples.append(profile_of(data).samples[0])


def problems_of(data):
    rules = otlp_rules.Rules(data)
    rules.check()
    return dict(rules.problems)


def rules_of_source():
    """What the checker may say, with a pattern for what it fills in."""
    text = pathlib.Path(otlp_rules.__file__).read_text()
    found = re.findall(r'f?"((?:[^"\\]|\\.)*)"\)$', text, re.MULTILINE)
    return [re.sub(r"\\{[^}]*\\}", ".+", re.escape(rule)) for rule in found if " " in rule]


def main():
    wrong = [f"a sound message breaks {problems}" for problems in [problems_of(sound())] if problems]
    named = set()
    for rule, change in [*indices(), *tables(), *attributes(), *others()]:
        data = sound()
        change(data)
        problems = problems_of(data)
        named.add(rule)
        if rule not in problems:
            wrong.append(f"not noticed: {rule}; {problems}")
    for rule in rules_of_source():
        if not any(re.fullmatch(rule, name) for name in named):
            wrong.append(f"no message breaks: {rule}")
    print("\n".join(wrong) or f"{len(named)} rules, each broken by a message")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

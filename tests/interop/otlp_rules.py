#!/usr/bin/env python3
"""The rules of OpenTelemetry's profiles, as its published schema states them and the profiling group's profcheck looks at them.

    otlp_rules.py FILE

Needs the package opentelemetry-proto. Prints JSON: what the message holds, and each rule that it breaks. A message that breaks
each of them is in otlp_rules_test.py. All that profcheck demands with its options -check-dupes and -check-orphans is among them.
"""
import collections
import json
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.profiles.v1development import profiles_pb2

TABLES = ("mapping_table", "location_table", "function_table", "link_table", "string_table", "attribute_table",
          "stack_table")
# Which table an index is one of, by the message that has it.
INDICES = {"Sample": {"stack_index": "stack_table", "attribute_indices": "attribute_table", "link_index": "link_table"},
           "Profile": {"attribute_indices": "attribute_table"},
           "ValueType": {"type_strindex": "string_table", "unit_strindex": "string_table"},
           "Mapping": {"filename_strindex": "string_table", "attribute_indices": "attribute_table"},
           "Stack": {"location_indices": "location_table"},
           "Location": {"mapping_index": "mapping_table", "attribute_indices": "attribute_table"},
           "Line": {"function_index": "function_table"},
           "Function": {"name_strindex": "string_table", "system_name_strindex": "string_table",
                        "filename_strindex": "string_table"},
           "KeyValueAndUnit": {"key_strindex": "string_table", "unit_strindex": "string_table"}}


NUMBERS = {"Line": ("line", "column"), "Function": ("start_line",)}  # from 0 on
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8


class Rules:
    def __init__(self, data):
        self.data, self.problems = data, collections.Counter()
        self.sizes = {name: len(getattr(data.dictionary, name)) for name in TABLES}
        self.used = {name: {0} for name in TABLES}

    def demand(self, holds, rule):
        if not holds:
            self.problems[rule] += 1

    def walk(self, message):
        """Indices and unknown fields of a message and all below it."""
        kind = message.DESCRIPTOR.name
        self.demand(not UnknownFieldSet(message), f"{kind} has no field that the schema does not know")
        for field, table in INDICES.get(kind, {}).items():
            value = getattr(message, field)
            for index in [value] if isinstance(value, int) else value:
                self.used[table].add(index)
                self.demand(0 <= index < self.sizes[table], f"{kind}.{field} is an entry of {table}")
        for field in NUMBERS.get(kind, ()):
            self.demand(getattr(message, field) >= 0, f"{kind}.{field} is not negative")
        if "attribute_indices" in INDICES.get(kind, {}):
            self.check_keys(kind, message.attribute_indices)
        for field, value in message.ListFields():
            if field.message_type is not None:
                for one in [value] if hasattr(value, "DESCRIPTOR") else value:
                    self.walk(one)

    def check_keys(self, kind, attributes):
        table = self.data.dictionary.attribute_table
        keys = [table[index].key_strindex for index in attributes if 0 <= index < len(table)]
        self.demand(len(set(keys)) == len(keys), f"no two attributes of a {kind} have the same key")

    def check_tables(self):
        for name in TABLES:
            table = getattr(self.data.dictionary, name)
            self.demand(table and not (table[0] if isinstance(table[0], str) else table[0].ListFields()),
                        f"entry 0 of {name} stands for none")
            texts = [one if isinstance(one, str) else one.SerializeToString(deterministic=True) for one in table]
            self.demand(len(set(texts)) == len(texts), f"no two entries of {name} are the same")
            self.demand(self.used[name] >= set(range(len(table))), f"every entry of {name} is used")
        for mapping in self.data.dictionary.mapping_table[1:]:
            self.demand(mapping.memory_start < mapping.memory_limit or mapping.memory_start == mapping.memory_limit == 0,
                        "a mapping begins before its end, or has neither")
        for link in self.data.dictionary.link_table[1:]:
            self.demand((len(link.trace_id), len(link.span_id)) == (TRACE_ID_BYTES, SPAN_ID_BYTES),
                        "a link has a whole trace and span id")

    def check_profile(self, profile):
        begin, end = profile.time_unix_nano, profile.time_unix_nano + profile.duration_nano
        shapes, identities = set(), set()
        for sample in profile.samples:
            self.demand(all(begin <= time < end for time in sample.timestamps_unix_nano),
                        "a sample's times lie in [start, start + duration)")
            shapes.add((bool(sample.values), bool(sample.timestamps_unix_nano)))
            counts = {len(column) for column in (sample.values, sample.timestamps_unix_nano) if column}
            self.demand(counts, "a sample has values or times")
            self.demand(len(counts) < 2, "a sample has as many values as times, where it has both")
            self.demand(sample.timestamps_unix_nano or len(sample.values) < 2, "a sample without times has one value")
            identities.add((sample.stack_index, tuple(sorted(sample.attribute_indices)), sample.link_index))
        self.demand(len(shapes) < 2, "samples of a profile all have values, or times, or both")
        self.demand(len(identities) == len(profile.samples), "a callstack with its attributes is one sample")


    def check(self):
        """Counts by rule what breaks it, and gives all profiles."""
        self.walk(self.data)
        self.check_tables()
        resources = self.data.resource_profiles
        scopes = [scope for resource in resources for scope in resource.scope_profiles]
        self.demand(resources, "there are resource profiles")
        self.demand(all(resource.scope_profiles for resource in resources), "a resource has scopes")
        self.demand(all(scope.profiles for scope in scopes), "a scope has profiles")
        profiles = [profile for scope in scopes for profile in scope.profiles]
        for profile in profiles:
            self.check_profile(profile)
        return profiles


def main():
    data = profiles_pb2.ProfilesData()
    with open(sys.argv[1], "rb") as file:
        data.ParseFromString(file.read())
    rules = Rules(data)
    profiles = rules.check()
    print(json.dumps({"profiles": len(profiles), "problems": rules.problems,
                      "samples": sum(len(sample.timestamps_unix_nano) for profile in profiles
                                     for sample in profile.samples)}))


if __name__ == "__main__":
    main()

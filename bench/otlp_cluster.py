#!/usr/bin/env python3
"""Writes an OTLP file of the shape that the eBPF profiler's collector writes of a cluster: two messages with their lengths in
front, a resource for each container, timestamps without values, Go, kernel, native and JavaScript frames.

    otlp_cluster.py FILE [--json] [--links] [--samples N]

Needs the package opentelemetry-proto. Counts are about those of otlp-bench's k8s.otlp (165 samples, 161 callstacks, 1,636
locations, 13 profiles); names, identities and times are made up by a seeded generator.
"""
import argparse
import json
import random
import struct

from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development import profiles_pb2

WORDS = ("alloc read write flush handle serve decode encode parse schedule wait wake lock unlock park ready find insert remove "
         "grow copy scan sweep mark poll accept dial resolve route match render compile marshal validate retry commit append "
         "rotate").split()
PACKAGES = ("runtime net/http internal/poll encoding/json crypto/tls google.golang.org/grpc github.com/prometheus/client_golang "
            "k8s.io/client-go/tools/cache go.opentelemetry.io/collector/exporter database/sql sync bufio").split()
PREFIXES = ("do", "__do", "ep", "tcp", "tcp_v4", "ip", "sock", "vfs", "ext4", "mem_cgroup", "__x64_sys", "futex", "nf", "skb")
PERIOD_NS = 50_000_000
START_NS = 1_764_240_000_000_000_000


class Tables:
    def __init__(self, dictionary):
        self.dictionary, self.strings, self.attributes, self.links = dictionary, {}, {}, {}
        for table in (dictionary.mapping_table, dictionary.location_table, dictionary.function_table, dictionary.link_table,
                      dictionary.attribute_table, dictionary.stack_table):
            table.add()
        self.string("")

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.dictionary.string_table.append(text)
        return self.strings[text]

    def attribute(self, key, value):
        if (key, value) not in self.attributes:
            self.attributes[key, value] = len(self.dictionary.attribute_table)
            entry = self.dictionary.attribute_table.add(key_strindex=self.string(key))
            if isinstance(value, str):
                entry.value.string_value = value
            else:
                entry.value.int_value = value
        return self.attributes[key, value]


def camel(random_, parts):
    return "".join(random_.choice(WORDS).title() for _ in range(parts))


def name_of(random_, kind, made):
    """A package has eight types, with methods of their own; a file has the functions of a type."""
    if kind == "go":
        package = random_.choice(PACKAGES)
        types = made.setdefault(package, [camel(random_, 2) for _ in range(8)])
        receiver = random_.choice(types)
        name = f"{package}.(*{receiver}).{random_.choice(WORDS)}{camel(random_, random_.randint(0, 1))}"
        return name, f"{receiver.lower()}.go"
    if kind == "kernel":
        return f"{random_.choice(PREFIXES)}_{random_.choice(WORDS)}_{random_.choice(WORDS)}", ""
    return f"{camel(random_, 1)}.{random_.choice(WORDS)}", f"/app/{random_.choice(WORDS)}.js"


class Code:
    """Locations as they come up, and callstacks that share what lies below their calls with others of the same program."""

    def __init__(self, tables, random_):
        self.tables, self.random, self.users, self.kernels = tables, random_, {}, [[]]
        self.types = {}  # by package
        for library in range(6):
            mapping = tables.dictionary.mapping_table.add(filename_strindex=tables.string(f"lib{WORDS[library]}.so.{library}"))
            for key, digits in (("gnu", 40), ("htlhash", 32)):
                identity = f"{random_.getrandbits(4 * digits):0{digits}x}"
                mapping.attribute_indices.append(tables.attribute(f"process.executable.build_id.{key}", identity))

    def location(self, kind):
        random_, tables, dictionary = self.random, self.tables, self.tables.dictionary
        location = dictionary.location_table.add(address=random_.getrandbits(24))
        location.attribute_indices.append(tables.attribute("profile.frame.type", kind))
        if kind == "native":
            location.mapping_index = random_.randint(1, 6)
        else:
            name, file = name_of(random_, kind, self.types)
            line = location.lines.add(function_index=len(dictionary.function_table))
            line.line = 0 if kind == "kernel" else random_.randint(1, 2000)
            dictionary.function_table.add(name_strindex=tables.string(name), filename_strindex=tables.string(file))
        return len(dictionary.location_table) - 1

    def grown(self, known, kind, count):
        """Root first: the beginning of one that is known, and new frames."""
        base = self.random.choice(known)
        path = base[:self.random.randint(len(base) // 3, len(base))] + [self.location(kind) for _ in range(count)]
        known.append(path)
        return path

    def stack(self, program):
        kind = "v8js" if program % 13 == 12 else "native" if program % 13 == 11 else "go"
        user = self.grown(self.users.setdefault(program, [[]]), kind, self.random.randint(4, 11))
        kernel = self.grown(self.kernels, "kernel", self.random.randint(0, 5)) if self.random.random() < 0.95 else []
        self.tables.dictionary.stack_table.add(location_indices=(user + kernel)[::-1])
        return len(self.tables.dictionary.stack_table) - 1


def add_profile(tables, scope, code, samples, container, links):
    random_ = code.random
    profile = scope.profiles.add(time_unix_nano=START_NS, duration_nano=5_000_000_000, period=PERIOD_NS)
    profile.sample_type.type_strindex, profile.sample_type.unit_strindex = tables.string("samples"), tables.string("count")
    profile.period_type.type_strindex, profile.period_type.unit_strindex = tables.string("cpu"), tables.string("nanoseconds")
    stack = 0
    for number in range(samples):
        program, pid = WORDS[container % len(WORDS)], 1000 + 37 * container
        again = stack != 0 and random_.random() < 0.025
        stack = stack if again else code.stack(container)
        sample = profile.samples.add(stack_index=stack)
        sample.timestamps_unix_nano.append(START_NS + random_.randrange(5_000_000_000))
        attributes = (("process.pid", pid), ("process.executable.name", program), ("thread.id", pid + number % 5),
                      ("process.executable.path", f"/usr/bin/{program}"), ("thread.name", f"{program}-{number % 5}"),
                      ("cpu.logical_number", random_.randrange(8)))
        sample.attribute_indices.extend(tables.attribute(key, value) for key, value in attributes)
        if links and number % 8 == 0:
            sample.link_index = len(tables.dictionary.link_table)
            tables.dictionary.link_table.add(trace_id=random_.randbytes(16), span_id=random_.randbytes(8))


def add_text(attributes, key, value):
    entry = attributes.add(key=key)
    entry.value.string_value = value


def message_of(random_, first, profiles, samples, links):
    data = profiles_pb2.ProfilesData()
    tables = Tables(data.dictionary)
    code = Code(tables, random_)
    for number in range(profiles):
        container = first + number
        resource = data.resource_profiles.add()
        add_text(resource.resource.attributes, "host.name", "node-1")
        add_text(resource.resource.attributes, "container.id", f"{random_.getrandbits(256):064x}")
        add_text(resource.resource.attributes, "k8s.pod.name", f"{random_.choice(WORDS)}-{random_.getrandbits(32):08x}")
        add_text(resource.resource.attributes, "service.name", random_.choice(WORDS))
        scope = resource.scope_profiles.add()
        scope.scope.name, scope.scope.version = "go.opentelemetry.io/ebpf-profiler", "0.0.202547"
        share = samples // profiles + (1 if number < samples % profiles else 0)
        add_profile(tables, scope, code, share, container, links)
    return data


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="the first message as JSON, with identities in hexadecimal digits")
    parser.add_argument("--links", action="store_true", help="of every eighth sample, to a trace and span")
    parser.add_argument("--samples", type=int, default=165)
    options = parser.parse_args()
    random_ = random.Random(41)
    messages = [message_of(random_, 0, 7, options.samples * 7 // 13, options.links), None]
    messages[1] = message_of(random_, 7, 6, options.samples - options.samples * 7 // 13, options.links)
    if options.json:
        text = json_format.MessageToDict(messages[0])
        for message, link in zip(messages[0].dictionary.link_table, text["dictionary"]["linkTable"]):
            if message.trace_id:
                link.update(traceId=message.trace_id.hex(), spanId=message.span_id.hex())
        with open(options.file, "w", encoding="utf-8") as out:
            json.dump(text, out)
        return
    with open(options.file, "wb") as out:
        for message in messages:
            content = message.SerializeToString(deterministic=True)
            out.write(struct.pack(">I", len(content)) + content)


if __name__ == "__main__":
    main()

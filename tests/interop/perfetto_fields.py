#!/usr/bin/env python3
"""Reads Perfetto traces by the messages that its Python package publishes, and prints how many fields they do not know.

    perfetto_fields.py FILE...
"""
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2


def unknown_in(message):
    count = len(unknown_fields.UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type:
            count += sum(map(unknown_in, value if field.is_repeated else [value]))
    return count


def main():
    for path in sys.argv[1:]:
        trace = perfetto_trace_pb2.Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        print(len(trace.packet), unknown_in(trace))


if __name__ == "__main__":
    main()

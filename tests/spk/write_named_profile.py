#!/usr/bin/env python3
"""Writes a profile.proto with functions, lines and inlined calls, from the field numbers alone.

    write_named_profile.py OUT.pb
"""
import sys

STRINGS = ["", "samples", "count", "/bin/app", "outer", "outer.c", "middle", "middle.h", "inner", "inner.c", "run",
           "run.py", "_outer"]


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(**fields):
    return b"".join(field(int(name[1:]), item) for name, value in fields.items()
                    for item in (value if isinstance(value, list) else [value]))


def text(value):
    return STRINGS.index(value)


def main():
    functions = [("outer", "_outer", "outer.c", 10), ("middle", "", "middle.h", 1), ("inner", "", "inner.c", 7),
                 ("run", "", "run.py", 0)]
    # id, mapping, address, (function, line) innermost first
    locations = [(1, 1, 0x1010, [(3, 9), (2, 5), (1, 12)]), (2, 1, 0x1020, [(1, 20)]), (3, 0, 0x77, [(4, 3)])]
    out = field(1, message(f1=text("samples"), f2=text("count")))
    out += field(2, message(f1=[1, 2, 3], f2=[5])) + field(2, message(f1=[2, 3], f2=[2]))
    out += field(3, message(f1=1, f2=0x1000, f3=0x2000, f4=0x400, f5=text("/bin/app")))
    for number, mapping, address, lines in locations:
        out += field(4, message(f1=number, f2=mapping, f3=address,
                                f4=[message(f1=function, f2=line) for function, line in lines]))
    for number, (name, linkage, path, line) in enumerate(functions, 1):
        out += field(5, message(f1=number, f2=text(name), f3=text(linkage), f4=text(path), f5=line))
    for string in STRINGS:
        out += field(6, string.encode())
    with open(sys.argv[1], "wb") as file:
        file.write(out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes a small ELF file with a symbol table, the same on every run:
make_elf.py OUT [--build-id HEX] NAME[:data]=START+SIZE...

`:data`: a variable, and no function. One executable segment: bytes 0x1000 to 0x1fff of the file at address 0x401000.
"""
import struct
import sys

TEXT_AT, TEXT_ADDRESS, TEXT_SIZE = 0x1000, 0x401000, 0x1000


def main():
    out, *functions = sys.argv[1:]
    build_id = b""
    if functions[0] == "--build-id":
        build_id = bytes.fromhex(functions[1])
        functions = functions[2:]
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id if build_id else b""
    strings, symbols = b"\0", bytes(24)
    for function in functions:
        name, place = function.split("=")
        start, size = (int(number, 16) for number in place.split("+"))
        name, _, kind = name.partition(":")
        symbols += struct.pack("<IBBHQQ", len(strings), 0x11 if kind == "data" else 0x12, 0, 1, start, size)
        strings += name.encode() + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0" + (b".note.gnu.build-id\0" if note else b"")
    symbols_at = TEXT_AT + TEXT_SIZE
    strings_at = symbols_at + len(symbols)
    names_at = strings_at + len(strings)
    note_at = names_at + len(names)
    sections_at = note_at + len(note)

    def section(name, kind, flags, address, at, size, link=0, entry=0):
        return struct.pack("<IIQQQQIIQQ", names.index(name) if name else 0, kind, flags, address, at, size, link, 1, 1, entry)

    header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, TEXT_ADDRESS, 64, sections_at, 0, 64,
                                                             56, 1, 64, 6 if note else 5, 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, TEXT_AT, TEXT_ADDRESS, TEXT_ADDRESS, TEXT_SIZE, TEXT_SIZE, 0x1000)
    content = (header + segment).ljust(TEXT_AT, b"\0").ljust(symbols_at, b"\x90") + symbols + strings + names + note
    content += section(b"", 0, 0, 0, 0, 0)
    content += section(b".text", 1, 6, TEXT_ADDRESS, TEXT_AT, TEXT_SIZE)
    content += section(b".symtab", 2, 0, 0, symbols_at, len(symbols), link=3, entry=24)
    content += section(b".strtab", 3, 0, 0, strings_at, len(strings))
    content += section(b".shstrtab", 3, 0, 0, names_at, len(names))
    content += section(b".note.gnu.build-id", 7, 2, 0, note_at, len(note)) if note else b""
    with open(out, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    main()

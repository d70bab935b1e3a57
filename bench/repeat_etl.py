#!/usr/bin/env python3
"""A trace of any size from a small one, to measure with:

    bench/repeat_etl.py INPUT.etl TIMES OUTPUT.etl

The header buffer stands once; all other buffers follow TIMES times, their sequence numbers
counted on, so that the whole reads as traces glued together.
"""

import struct
import sys

BUFFER_HEADER_BYTES = 0x48
SEQUENCE_NUMBER = 0x18


def buffers(trace):
    """Every buffer of a trace, from its own size on; the unused tail of the file is left out."""
    offset = 0
    while offset + BUFFER_HEADER_BYTES <= len(trace):
        (size,) = struct.unpack_from("<I", trace, offset)
        if size < BUFFER_HEADER_BYTES or offset + size > len(trace):
            break
        yield bytearray(trace[offset : offset + size])
        offset += size


def main():
    if len(sys.argv) != 4 or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        header, *rest = buffers(file.read())
    sequence = 0
    with open(sys.argv[3], "wb") as out:
        out.write(header)
        for _ in range(int(sys.argv[2])):
            for buffer in rest:
                sequence += 1
                struct.pack_into("<Q", buffer, SEQUENCE_NUMBER, sequence)
                out.write(buffer)


if __name__ == "__main__":
    main()

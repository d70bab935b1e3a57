"""Recordings as the machines of a fleet make them: drawn from one of the workload generator's, each a perf.data of its own.

A capture draws samples of a service's recording, each run about a tenth of its shares away from the others, with times of its own.
The generator's addresses have no images: a service's names are a perf-PID.map, a function each 256 bytes; those of the kernel stay
`[kernel]`. Threads are called as the generator's roles are, and not by a number each.
"""
import pathlib
import struct
import subprocess

import numpy

COMM, SAMPLE = 3, 9
_DATA_OFFSET, _DATA_SIZE = 40, 48  # of the file's header
_HEADER = 8  # of a record
_TID, _TIME, _CALLS = _HEADER + 8, _HEADER + 16, _HEADER + 40  # of a sample
_USER = 2**64 - 512  # begins the callers in user space
_KERNEL = 2**63
PLANTED = 0x1000  #: where the function is that grows
REGION = 256  #: bytes of a function
_ROLES = ((4120, "main"), (4188, "render"), (4192, "audio"), (4200, "worker"), (4400, "service"), (8000, "sleeper"))


class Recording:
    """A recording of the generator, taken apart."""

    def __init__(self, generator, path, scale, seed):
        subprocess.run([generator, "perf", path, str(scale), str(seed)], check=True, stdout=subprocess.DEVNULL)
        content = pathlib.Path(path).read_bytes()
        pathlib.Path(path).unlink()
        begin, size = struct.unpack_from("<QQ", content, _DATA_OFFSET)
        self._head, comms, self._samples = content[:begin], [], []
        at = begin
        while at < begin + size:
            kind, _, length = struct.unpack_from("<IHH", content, at)
            if kind == COMM:
                comms.append(_renamed(content[at:at + length], len(comms) == 0))
            elif kind == SAMPLE:
                self._samples.append(content[at:at + length])
            at += length
        self.size = len(content)
        (self.pid,) = struct.unpack_from("<I", self._samples[0], _TID)
        self._comms = b"".join(comms)
        self._samples.append(_planted(next(each for each in self._samples if struct.unpack_from("<Q", each, _CALLS + 8)[0] == _USER)))
        stacks = {}
        self._stack_of = numpy.array([stacks.setdefault(each[_CALLS:], len(stacks)) for each in self._samples[:-1]])
        self.stacks = len(stacks)
        self._sizes = numpy.array([len(each) // 8 for each in self._samples])
        times = [struct.unpack_from("<Q", each, _TIME)[0] for each in self._samples]
        self._span = min(times), max(times)

    def names(self):
        """The text of its perf-PID.map."""
        words = numpy.frombuffer(b"".join(each[_CALLS + 8:] for each in self._samples), numpy.uint64)
        regions = numpy.unique(words[words < _KERNEL] // REGION * REGION).tolist()
        return "".join(f"{at:x} {REGION:x} {'grown' if at == PLANTED else f'function_{at:x}'}\n" for at in regions)

    def draw(self, chance, samples, planted):
        """The bytes of a capture whose planted function has this share."""
        shares = chance.gamma(100, 0.01, self.stacks)[self._stack_of]
        shares *= (1 - planted) / shares.sum()
        drawn = numpy.repeat(numpy.arange(len(self._samples)), chance.multinomial(samples, [*shares, planted]))
        chance.shuffle(drawn)
        words = numpy.frombuffer(b"".join(map(self._samples.__getitem__, drawn.tolist())), numpy.uint64).copy()
        begins = numpy.concatenate(([0], numpy.cumsum(self._sizes[drawn])[:-1]))
        words[begins + _TIME // 8] = numpy.sort(chance.integers(*self._span, len(drawn), dtype=numpy.uint64))
        head = bytearray(self._head)
        struct.pack_into("<Q", head, _DATA_SIZE, len(self._comms) + 8 * len(words))
        return b"".join((head, self._comms, words.tobytes()))


def _renamed(record, is_first):
    """The name of a thread: that of its role; the first thread is the process, too."""
    pid, tid = struct.unpack_from("<2I", record, _HEADER)
    name = [role for first, role in _ROLES if tid >= first][-1]
    renamed = record[:_HEADER + 8] + name.encode().ljust(16, b"\0") + record[_HEADER + 24:]
    if not is_first:
        return renamed
    process = bytearray(record[:_HEADER + 8] + b"program".ljust(16, b"\0") + record[_HEADER + 24:])
    struct.pack_into("<2I", process, _HEADER, pid, pid)
    struct.pack_into("<2I", process, _HEADER + 24, pid, pid)
    return bytes(process) + renamed


def _planted(sample):
    """A sample that has called the planted function."""
    (count,) = struct.unpack_from("<Q", sample, _CALLS)
    record = bytearray(sample[:_CALLS] + struct.pack("<3Q", count + 1, _USER, PLANTED + 8) + sample[_CALLS + 16:])
    struct.pack_into("<H", record, 6, len(record))
    struct.pack_into("<Q", record, _HEADER, PLANTED + 8)
    return bytes(record)

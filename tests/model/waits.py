"""What threads did when they did not run, from the switches themselves: docs/waits.md, one event after the other.

Events are those of a system of which all threads are recorded, in the order of time, as tuples:
    ("switch", time, cpu, thread that leaves, reason, thread that comes, stack)
    ("wake", time, cpu, thread that runs there, thread that is woken, stack, is an interrupt, is a new thread)
    ("exit", time, cpu, thread)
Times are ns; a reason is the state's letters, "R" or "R+" of a thread that is able to run; stacks are anything, None for none.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import read_spk as spk  # noqa: E402

OPEN_START, OPEN_END, NO_WAKING = 1, 2, 8
Interval = collections.namedtuple("Interval", "tid start end state reason flags stack waker_kind waker waker_stack")
Step = collections.namedtuple("Step", "start end tid state")
NOBODY = (0, 0, None)


class Lane:
    """The life of one thread, told one event at a time."""

    def __init__(self, tid, start):
        self.tid, self.since, self.state, self.flags = tid, start, None, OPEN_START
        self.reason, self.stack, self.waker, self.rows = "", None, NOBODY, []

    def end(self, time, state, flags=0):
        """What the thread did until now is an interval."""
        stack = None if state in ("running", "exited") else self.stack
        if time > self.since or state == "blocked" and not flags & OPEN_END:  # it was woken before it had left
            self.rows.append(Interval(self.tid, self.since, time, state, "" if state in ("running", "exited") else self.reason,
                                      self.flags | flags, stack, *self.waker))
        self.since, self.flags, self.waker = time, 0, NOBODY


def intervals(events):
    """[Interval] by thread and time."""
    lanes, used = {}, set()
    begin = min((event[1] for event in events if event[0] != "exit"), default=0)
    end = max((event[1] for event in events if event[0] != "exit"), default=0)
    for event in events:
        take = {"switch": take_switch, "wake": take_wake, "exit": take_exit}[event[0]]
        take(lanes, used, begin, *event[1:])
    rows = []
    for tid in sorted(lanes):
        lane = lanes[tid]
        if lane.state not in (None, "gone"):
            lane.waker = NOBODY
            lane.end(end, lane.state, OPEN_END)
        rows += lane.rows
    return rows


def take_switch(lanes, used, begin, time, cpu, leaving, reason, coming, stack):
    if leaving:
        lane = lanes.setdefault(leaving, Lane(leaving, begin))
        if lane.state is None:
            lane.end(time, "unknown" if cpu in used else "running")
        else:
            lane.end(time, lane.state)
        lane.reason, lane.stack = reason, stack
        lane.state = "gone" if reason[0] in "XZ" else "preempted" if reason in ("R", "R+") else "blocked"
    if coming:
        lane = lanes.setdefault(coming, Lane(coming, begin))
        if lane.state is None:
            lane.end(time, "unknown")
        elif lane.state == "blocked":
            lane.end(time, "blocked", NO_WAKING)
        elif lane.state != "gone":
            lane.end(time, lane.state)
        lane.since, lane.flags = time, 0
        lane.state = "running"
    used.add(cpu)


def take_wake(lanes, used, begin, time, cpu, running, woken, stack, is_interrupt, is_new):
    lane = lanes.setdefault(woken, Lane(woken, begin))
    lane.waker = (2 if is_interrupt else 1, running, stack)
    if is_new:
        lane.since, lane.flags, lane.reason, lane.state = time, 0, "new", "woken"
    elif lane.state in (None, "blocked"):
        lane.reason = lane.reason or "?"
        waker = lane.waker
        lane.end(time, "blocked")
        lane.state, lane.waker = "woken", waker


def take_exit(lanes, _used, _begin, time, _cpu, tid):
    lane = lanes.get(tid)
    if lane is not None:
        lane.end(time, lane.state)
        lane.state = "exited"


def most_running(rows):
    """How many threads run at a time at most."""
    steps = sorted((time, change) for row in rows if row.state == "running" and row.end > row.start
                   for time, change in ((row.start, 1), (row.end, -1)))
    most = now = 0
    for _, change in steps:
        now += change
        most = max(most, now)
    return most


def processors(file):
    """How many a system has: what was recorded of it, else the highest number of a sample plus one."""
    for key, value in spk.read_table(file, spk.METADATA):
        if key == b"cpu.count":
            return int(value)
    return 1 + max((sample.cpu for sample in spk.read_samples(file) if sample.cpu != spk.NONE), default=0)


def sums(rows):
    """{(thread, state or "blocked:reason"): (count, ns, longest)}"""
    found = {}
    for row in rows:
        for state in [row.state] + (["blocked:" + row.reason] if row.state == "blocked" else []):
            count, total, longest = found.get((row.tid, state), (0, 0, 0))
            length = row.end - row.start
            found[row.tid, state] = count + 1, total + length, max(longest, length)
    return found


def runs(rows):
    """{(thread, end of a run): (waited before it, of that able to run, length)}"""
    found, waited, able, before = {}, 0, 0, None
    for row in rows:
        if row.tid != before:
            waited, able, before = 0, 0, row.tid
        length = row.end - row.start
        if row.state == "running":
            found[row.tid, row.end] = waited, able, length
            waited = able = 0
        elif row.state in ("blocked", "woken", "preempted"):
            waited += length
            able += length if row.state == "woken" else 0
    return found


def path(rows, tid, start, end):
    """Whom a thread waited for: [Step] by time."""
    lanes = collections.defaultdict(list)
    for row in rows:
        lanes[row.tid].append(row)
    return list(steps_back(lanes, tid, start, end))[::-1]


def steps_back(lanes, tid, start, end, standing=()):
    at = end
    for row in reversed(lanes[tid]):
        first, last = max(row.start, start), min(row.end, at)
        if first >= last:
            continue
        if last < at:
            yield Step(last, at, tid, "unknown")
        leads = row.waker_kind == 1 and not row.flags & 16 and row.waker in lanes and row.waker not in (*standing, tid)
        if row.state == "blocked" and leads:
            yield from steps_back(lanes, row.waker, first, last, (*standing, tid))
        else:
            yield Step(first, last, tid, row.state)
        at = first
        if row.state == "woken" and row.reason == "new" and standing and leads and first > start:
            yield from steps_back(lanes, row.waker, start, first, (*standing, tid))
            return
    if at > start:
        yield Step(start, at, tid, "unknown")

"""Makes captures of systems whose schedules are drawn at random, and tells their switches: what tests/model/waits.py reads."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import switch_capture as sc  # noqa: E402

REASONS = {"S": sc.SLEEPS, "D": sc.DISK, "R": sc.ABLE, "X": sc.DEAD}


def draw(numbers):
    """A schedule that shows that all threads are recorded."""
    while True:
        schedule = Schedule(numbers, numbers.choice((20, 60, 200)))
        if schedule.shows_processors():
            return schedule


class Schedule:
    """Threads on processors; `events` are those of waits.py."""

    def __init__(self, numbers, steps):
        self.numbers, self.system, self.events = numbers, sc.SwitchCapture(), []
        self.running = [0] * numbers.randint(1, 4)
        self.asleep, self.able, self.unborn, self.ending = set(), set(), [], set()
        for index in range(numbers.randint(1, 12)):
            tid = 100 + index
            pid = 100 + index // 3 * 3
            self.system.add_thread(pid, tid, f"thread{index % 5}")
            if tid == pid:
                self.system.add_image(pid, 0x401000, f"/bin/program{index % 2}")
            self.place(tid)
        us = 10
        for _ in range(steps):
            us += numbers.choice((1, 1, 2, 7, 100))
            self.step(us, numbers.randrange(len(self.running)))

    def shows_processors(self):
        """Some processor switches twice: nothing else says that all threads are recorded."""
        processors = [event[2] for event in self.events if event[0] == "switch"]
        return len(processors) > len(set(processors))

    def place(self, tid):
        """What a thread does as the recording begins."""
        drawn = self.numbers.random()
        if drawn < .3 and 0 in self.running:
            self.running[self.running.index(0)] = tid
        elif drawn < .6:
            self.asleep.add(tid)
        elif drawn < .8:
            self.able.add(tid)
        else:
            self.unborn.append(tid)

    def stack(self):
        return [sc.KERNEL + 16 * self.numbers.randrange(3)] + [0x401000 + 16 * self.numbers.randrange(8) for _ in range(self.numbers.randrange(4))]

    def step(self, us, cpu):
        """Something happens on a processor."""
        tid = self.running[cpu]
        if tid in self.ending:
            self.ending.remove(tid)
            self.switch(us, cpu, "X")
            return
        drawn = self.numbers.random()
        if drawn < .4:
            self.switch(us, cpu, self.numbers.choice("SSSDR"))
        elif drawn < .75 and self.asleep:
            self.wake(us, cpu, self.numbers.choice(sorted(self.asleep)))
        elif drawn < .8 and self.unborn and tid:
            self.wake(us, cpu, self.unborn.pop(), True)
        elif drawn < .95:
            self.system.clock(us, cpu, tid, self.stack())
        elif tid and drawn > .99:
            self.ending.add(tid)
            self.system.exit(us, tid)
            self.events.append(("exit", self.ns(us), cpu, tid))

    @staticmethod
    def ns(us):
        return sc.START + us * 1000

    def switch(self, us, cpu, reason):
        leaving = self.running[cpu]
        coming = self.numbers.choice([0, *sorted(self.able)])
        if leaving == coming == 0:
            return
        self.able.discard(coming)
        stack = self.stack() if leaving else [sc.KERNEL]
        self.system.switch(us, cpu, leaving, REASONS[reason] if leaving else sc.ABLE, coming, stack)
        self.events.append(("switch", self.ns(us), cpu, leaving, reason if leaving else "R", coming, tuple(stack)))
        if leaving and reason == "R":
            self.able.add(leaving)
        elif leaving and reason != "X":
            self.asleep.add(leaving)
        self.running[cpu] = coming

    def wake(self, us, cpu, woken, is_new=False):
        is_interrupt = not is_new and (self.running[cpu] == 0 or self.numbers.random() < .2)
        stack = self.stack() if self.running[cpu] else [sc.KERNEL]
        self.system.wake(us, cpu, self.running[cpu], woken, stack, sc.HARD_INTERRUPT if is_interrupt else 0, is_new)
        self.events.append(("wake", self.ns(us), cpu, self.running[cpu], woken, tuple(stack), is_interrupt, is_new))
        self.asleep.discard(woken)
        self.able.add(woken)

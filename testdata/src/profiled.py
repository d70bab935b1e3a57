"""Keeps a processor busy for testdata/foreign: profiled.py."""
import time


def inner(limit):
    return sum(number * number for number in range(limit))


def outer(until):
    total = 0
    while time.monotonic() < until:
        total += inner(2000)
    return total


outer(time.monotonic() + 1.5)

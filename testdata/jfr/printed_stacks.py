#!/usr/bin/env python3
"""From the output of `jfr print --json` to lines `EVENT WEIGHT SAMPLES root;...;leaf`, sorted."""
import collections
import json
import re
import sys
from decimal import Decimal

WEIGHTS = ("tlabSize", "weight", "samples", "duration")


def event_of(kind, values):
    state = str(values.get("state") or "").removeprefix("STATE_")
    return kind if state in ("", "RUNNABLE", "DEFAULT") else f"{kind}/{state.lower()}"


def weight_of(values):
    name = next((name for name in WEIGHTS if name in values), None)
    if name != "duration":
        return values[name] if name else 1
    hours, minutes, seconds = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", values[name]).groups("0")
    return int((Decimal(hours) * 3600 + Decimal(minutes) * 60 + Decimal(seconds)) * 10**9)


def frame_of(frame):
    method = frame["method"]
    owner = ((method["type"] or {}).get("name") or "").replace("/", ".")
    # Functions that are not of Java.
    return method["name"] if method["descriptor"] == "()L;" or not owner else f"{owner}.{method['name']}"


def main():
    weights, samples = collections.Counter(), collections.Counter()
    for event in json.load(sys.stdin)["recording"]["events"]:
        values = event["values"]
        if values.get("stackTrace"):
            stack = ";".join(frame_of(frame) for frame in reversed(values["stackTrace"]["frames"]))
            key = event_of(event["type"], values), stack
            weights[key] += weight_of(values)
            samples[key] += 1
    for event, stack in sorted(weights):
        print(event, weights[event, stack], samples[event, stack], stack)


if __name__ == "__main__":
    main()

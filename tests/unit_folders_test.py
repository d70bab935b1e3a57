#!/usr/bin/env python3
"""Fails when CTest would forget a unit test: unit_folders_test.py PROGRAM OPTIONS...

CTest runs the test program once per folder of tests, with a filter of source files, and once more for
the slow ones; OPTIONS are those of one run, with blanks between them. Each test case has to be in
exactly one run, and each run must have some.
"""
import collections
import subprocess
import sys
import xml.etree.ElementTree


def cases_of(program, *options):
    listing = subprocess.run([program, "--list-test-cases", "--reporters=xml", *options], check=True,
                             stdout=subprocess.PIPE).stdout
    return [(case.get("filename"), case.get("line"), case.get("name"))
            for case in xml.etree.ElementTree.fromstring(listing).iter("TestCase")]


def main():
    program, *filters = sys.argv[1:]
    runs = collections.Counter()
    problems = []
    for options in filters:
        cases = cases_of(program, *options.split())
        runs.update(cases)
        if not cases:
            problems.append(f"{options}: no test case")
    everything = cases_of(program, "--no-skip")
    problems += [f'{case[0]}: "{case[2]}" is run {runs[case]} times' for case in everything
                 if runs[case] != 1]
    for problem in problems:
        print(problem)
    print(f"{len(everything)} test cases, {len(filters)} filters, {len(problems)} problems")
    return 1 if problems or not everything else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What a user of the wheel does first: wheel_job.py CAPTURE OUTPUT"""
import sys

import stackpack

capture, output = sys.argv[1:]
stackpack.convert(capture, output)
with stackpack.open(output) as file:
    assert hasattr(file.top(), "__arrow_c_stream__")
assert stackpack.diff([output], [output])[0].rows is not None
# What the program does, which is in the wheel.
assert stackpack.symbolize(output, output + ".named").asked > 0
assert stackpack.export(output + ".named", where=stackpack.Filter(idle=True)).endswith(b"\n")
assert stackpack.callers(output, "*").rows
assert stackpack.view(output).html.rstrip().endswith("</html>")

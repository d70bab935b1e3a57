#!/usr/bin/env python3
"""What a user of the wheel does first: wheel_job.py CAPTURE OUTPUT"""
import sys

import stackpack

capture, output = sys.argv[1:]
stackpack.convert(capture, output)
with stackpack.open(output) as file:
    assert hasattr(file.top(), "__arrow_c_stream__")
assert stackpack.diff([output], [output])[0].rows is not None

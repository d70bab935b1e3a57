#!/bin/bash
# Runs a program for Windows under wine, as if it were one of this system: wine_program.sh PROGRAM ARGUMENT...
# STACKPACK_WINE_PREFIX: the folder of its made-up Windows; made where it is missing.
export WINEPREFIX=${STACKPACK_WINE_PREFIX:-$HOME/.cache/stackpack/wine} WINEDEBUG=-all
mkdir -p "${WINEPREFIX%/*}"
unset TMPDIR # where wine keeps files of its own
# A program asks wine's server for each access to a file. On two processors that have nothing else to do each
# question wakes one of them up, which takes ten times as long as the answer.
processor=$(taskset -cp $$ | sed -E 's/.*: *([0-9]+).*/\1/')
# What wine starts once lives on for a minute, and with what it inherits: not with a pipe that somebody reads to its end.
if ! wineserver -k0; then
  taskset -c "$processor" wineserver -p60 </dev/null >/dev/null 2>&1
  taskset -c "$processor" wine wineboot </dev/null >/dev/null 2>&1
fi
# A Windows process has a page of the system's at 2 GiB. Where Linux puts the heap of wine's loader at random, the heap
# takes that place once in some thousand starts, and wine ends with 1 and says nothing.
fixed=()
if setarch -R true 2>/dev/null; then
  fixed=(setarch -R)
fi
exec taskset -c "$processor" "${fixed[@]}" wine "$@"

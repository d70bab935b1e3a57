#!/bin/bash
# Runs a program for Windows under wine, as if it were one of this system: wine_program.sh PROGRAM ARGUMENT...
# STACKPACK_WINE_PREFIX: the folder of its made-up Windows; made where it is missing.
export WINEPREFIX=${STACKPACK_WINE_PREFIX:-$HOME/.cache/stackpack/wine} WINEDEBUG=-all
mkdir -p "${WINEPREFIX%/*}"
unset TMPDIR # where wine keeps files of its own
exec wine "$@"

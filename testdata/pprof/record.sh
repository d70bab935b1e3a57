#!/bin/bash
# Records profiles with the Go that is installed, and what `go tool pprof` says of each: PROFILE.top has the rows of -top,
# go.cpu.tags those of -tags.
set -eu
cd "$(dirname "$0")"
build=$(mktemp -d)
trap 'rm -r "$build"' EXIT
go build -trimpath -o "$build/record" record.go
"$build/record" .
say() { GOTOOLCHAIN=local PPROF_TMPDIR=$build go tool pprof -symbolize=none -nodecount=10000 -nodefraction=0 "$@" 2> /dev/null; }
for profile in go.*.pb.gz go.*.txt; do
  case $profile in
    go.cpu*|go.block*|go.mutex*) unit=ns ;;
    go.heap*) unit=B ;;
    *) unit=minimum ;;
  esac
  say -top -unit=$unit "$profile" | sed -n '/flat%/,$p' > "$profile.top"
done
say -tags -unit=ns go.cpu.pb.gz > go.cpu.tags

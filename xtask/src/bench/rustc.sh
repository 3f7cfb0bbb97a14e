#!/usr/bin/env bash
# Stands before rustc, and leaves its processor time (user, system) in a file named after the unit.
[[ "$*" =~ extra-filename=-([0-9a-f]+) ]] || exec "$@"
exec {stderr}>&2
TIMEFORMAT='%U %S'
{ time "$@" 2>&"$stderr"; } 2>"$BUILD_UNITS/${BASH_REMATCH[1]}"

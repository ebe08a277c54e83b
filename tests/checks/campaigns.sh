#!/usr/bin/env bash
# What scripts/check-all runs by name exists: the test cases that it filters, and the variables that it sets. A campaign
# whose test was renamed would find out only in the hour in which somebody runs it.
#
# usage: campaigns.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
faults=0

say() {
  echo "scripts/check-all: $*"
  faults=$((faults + 1))
}

filters=0
while read -r program filter; do
  filters=$((filters + 1))
  found=$("$build/bin/$program" --list-test-names-only "$filter" 2>/dev/null | grep --count . || true)
  [ "$found" -gt 0 ] || say "no test case of $program is called '$filter'"
done < <(sed -nE "s|.*build/bin/([a-z_]+) '([^']+)'.*|\1 \2|p" scripts/check-all)
[ "$filters" -gt 0 ] || say "no line runs a program with a filter any more: this check has nothing to look at"

while read -r variable; do
  grep --quiet --recursive --word-regexp --exclude-dir='build*' --include='*.[ch]pp' --include=CMakeLists.txt \
    --include='*.cmake' -e "$variable" . || say "nothing reads $variable"
done < <(grep --only-matching --no-filename -E 'DISTRUN_[A-Z_]+' scripts/check-all | sort --unique)
echo "campaigns: $filters filters, $faults findings"
[ "$faults" -eq 0 ]

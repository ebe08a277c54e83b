#!/usr/bin/env bash
# scripts/validate-reports takes a good CTRF report and refuses it with any of these faults.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
good=$root/tests/golden/report/ctrf.json
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

status=0
"$root/scripts/validate-reports" "$good" >"$folder/said" 2>&1 || status=$?
if [ "$status" -eq 2 ]; then
  echo "skipped: $(cat "$folder/said")"
  exit 77
fi
if [ "$status" -ne 0 ]; then
  cat "$folder/said"
  exit 1
fi

# refuses FAULT SED-COMMAND
refuses() {
  sed "$2" "$good" >"$folder/report.json"
  if cmp -s "$good" "$folder/report.json"; then
    echo "$1: the golden file has nothing to change"
    exit 1
  fi
  if "$root/scripts/validate-reports" "$folder/report.json" >"$folder/said"; then
    echo "$1: taken as valid"
    exit 1
  fi
}

refuses "a field that the format does not know" 's/"flaky": false/"flakey": false/'
refuses "a status that the format does not know" 's/"status": "failed"/"status": "broken"/'
refuses "a count that is not that of the tests" 's/"failed": 2/"failed": 1/'
refuses "a duration that is not whole" 's/"duration": 12,/"duration": 12.5,/'
refuses "retries that are not listed" 's/"retries": 1/"retries": 2/'
refuses "another version" 's/"specVersion": "0.0.0"/"specVersion": "9.0.0"/'
refuses "no JSON" 's/"results": {/"results": /'

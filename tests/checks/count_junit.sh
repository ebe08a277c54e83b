#!/usr/bin/env bash
# scripts/count-junit reads what ctest writes: passed, failed, and tests that could not run or were disabled.
set -euo pipefail

scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >CTestTestfile.cmake <<'TESTS'
add_test(good_1 /bin/true)
add_test("good 2 <&\">" /bin/true)
add_test(bad /bin/false)
add_test(slow/hangs /bin/sleep 100)
set_tests_properties(slow/hangs PROPERTIES TIMEOUT 1)
add_test(gone ./no_such_program)
add_test(off /bin/false)
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(skips /bin/sh -c "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
TESTS
ctest --output-junit "$folder/report.xml" >ctest.txt 2>&1 </dev/null || true

counted=$("$scripts/count-junit" report.xml)
if [ "$counted" != "2 3" ]; then
  echo "2 passed and 3 failed were expected (bad, slow/hangs, gone); count-junit says: $counted"
  cat ctest.txt report.xml
  exit 1
fi

slowest=$("$scripts/count-junit" --slowest 1 report.xml)
if ! [[ $slowest =~ ^\ +[0-9.]+\ s\ \ all\ of\ slow/.\ +[0-9.]+\ s\ \ slow/hangs$ ]]; then
  echo "slow/ and slow/hangs were expected to take most time; count-junit --slowest 1 says: $slowest"
  exit 1
fi

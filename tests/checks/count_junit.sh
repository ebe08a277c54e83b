#!/usr/bin/env bash
# scripts/count-junit reads what ctest writes: passed, failed, skipped with a reason, and tests that could not run or
# were disabled.
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
add_test(skips /bin/sh -c "echo 'skipped: no <moon>' >&2; exit 77")
add_test(says_so_and_fails /bin/sh -c "echo 'skipped: half of it'; exit 1")
add_test(is_silent /bin/sh -c "exit 77")
set_tests_properties(skips says_so_and_fails is_silent PROPERTIES SKIP_RETURN_CODE 77)
TESTS
ctest --output-junit "$folder/report.xml" >ctest.txt 2>&1 </dev/null || true

counted=$("$scripts/count-junit" report.xml)
wanted="2 4 2
skips: no <moon>
is_silent: it does not say why"
if [ "$counted" != "$wanted" ]; then
  echo "2 passed, 4 failed (bad, slow/hangs, gone, says_so_and_fails) and 2 skipped were expected;"
  echo "count-junit says: $counted"
  cat ctest.txt report.xml
  exit 1
fi

slowest=$("$scripts/count-junit" --slowest 1 report.xml)
if ! [[ $slowest =~ ^\ +[0-9.]+\ s\ \ all\ of\ slow/.\ +[0-9.]+\ s\ \ slow/hangs$ ]]; then
  echo "slow/ and slow/hangs were expected to take most time; count-junit --slowest 1 says: $slowest"
  exit 1
fi

failed=$("$scripts/count-junit" --failed 1 report.xml)
for line in 'FAILED bad' 'FAILED slow/hangs' 'FAILED gone' 'FAILED says_so_and_fails' '    skipped: half of it'; do
  if ! grep --quiet --line-regexp --fixed-strings -e "$line" <<<"$failed"; then
    echo "'$line' was expected; count-junit --failed 1 says: $failed"
    exit 1
  fi
done
if [ "$(grep --count FAILED <<<"$failed")" -ne 4 ]; then
  echo "four tests fail; count-junit --failed 1 says: $failed"
  exit 1
fi

# A second report in which bad and gone pass, and hangs fails again.
sed -e 's|/bin/false|/bin/true|' -e 's|./no_such_program|/bin/true|' -i CTestTestfile.cmake
ctest --rerun-failed --output-junit "$folder/again.xml" >ctest.txt 2>&1 </dev/null || true
unstable=$("$scripts/count-junit" --unstable 1 report.xml again.xml)
if [ "$(grep FAILED <<<"$unstable" | sort | tr '\n' ' ')" != "FAILED bad FAILED gone " ]; then
  echo "bad and gone passed the second time; count-junit --unstable 1 says: $unstable"
  exit 1
fi

#!/usr/bin/env bash
# scripts/test-programs names the programs of chosen tests; nothing where everything has to be built.
set -euo pipefail

scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect WANTED ARGUMENT...: what the script prints, in one line.
expect() {
  local wanted=$1 printed
  shift
  printed=$("$scripts/test-programs" build "$@" | tr '\n' ' ')
  [ "${printed% }" = "$wanted" ] || { echo "test-programs build $*: '$wanted' was expected, not '$printed'" && exit 1; }
}

expect "" -R first # no build yet
mkdir -p build/bin
cp /bin/true build/bin/first
cp /bin/true build/bin/second
cat >build/CTestTestfile.cmake <<TESTS
add_test(first/a "$PWD/build/bin/first" a)
add_test(first/b "$PWD/build/bin/first" b)
add_test(second/a "$PWD/build/bin/second" a)
add_test(script /bin/true)
add_test(gone "$PWD/build/bin/gone")
TESTS
expect "bin/first" -R first
expect "bin/first bin/second" -R /a
expect "" -R script                 # may need anything
expect "" -R 'first|script'         # so this may, too
expect "" -R gone                   # a program that is not built
expect "" -R no_such_test           # may be a test that is not built yet
expect "" -R .                      # all
expect "" --output-junit report.xml # all
[ ! -e report.xml ] || { echo "it has written a report" && exit 1; }

#!/usr/bin/env bash
# check_of_two.sh INCLUDE: a check of two comparisons does not compile, and the compiler's words say what to write
# instead; what they say compiles. INCLUDE is the folder of distrun's headers.
set -euo pipefail

include=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compile() {
  printf '#include <distrun/plugin/sdk/check.hpp>\nvoid check(int a, int b, bool c) { %s; }\n' "$1" >"$folder/code.cpp"
  "${CXX:-c++}" -std=c++20 -fsyntax-only -I"$include" "$folder/code.cpp" >"$folder/said" 2>&1
}

for code in 'DISTRUN_EXPECT(a != b || c)' 'DISTRUN_REQUIRE(a == b && c)'; do
  if compile "$code" || ! grep -q 'a check takes one comparison: put .* into parentheses' "$folder/said"; then
    printf 'of %s the compiler says:\n' "$code" >&2
    cat "$folder/said" >&2
    exit 1
  fi
done
if ! compile 'DISTRUN_EXPECT((a != b || c)); DISTRUN_EXPECT(a == b); DISTRUN_REQUIRE(c)'; then
  cat "$folder/said" >&2
  exit 1
fi

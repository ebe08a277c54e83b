#!/bin/sh
# Formats the man page with every warning on, and looks for what must stand in it.
#
#   tests/shell/man_page.sh DISTRUN
set -eu

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"$1" man >"$room/distrun.1"

if command -v man >/dev/null; then
  MANROFFSEQ='' MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$room/distrun.1" >"$room/text" 2>"$room/warnings"
elif command -v mandoc >/dev/null; then
  mandoc -W warning "$room/distrun.1" >"$room/text" 2>"$room/warnings"
else
  echo "skipped: neither man nor mandoc is installed"
  exit 77
fi
if [ -s "$room/warnings" ]; then
  cat "$room/warnings"
  exit 1
fi
for part in NAME 'EXIT STATUS' ENVIRONMENT FILES '--until-fail\[=MAX\]' 'distrun stacks'; do
  grep -q -e "$part" "$room/text" || {
    echo "the page has no $part"
    exit 1
  }
done

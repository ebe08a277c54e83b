# Read by the scripts beside it: where they work, and what the build was configured with.
# shellcheck shell=sh disable=SC2034 # the scripts use them
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT INT TERM

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

from_cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cc=$(from_cache CMAKE_C_COMPILER)
cxx=$(from_cache CMAKE_CXX_COMPILER)
sanitize=$(from_cache DISTRUN_SANITIZE)
flags=${sanitize:+-fsanitize=$sanitize}

# logged NAME COMMAND...: its output is shown only if it fails.
logged() {
  log=$room/$1.log
  shift
  "$@" > "$log" 2>&1 || fail "$* failed:
$(tail -40 "$log")"
}

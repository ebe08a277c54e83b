# Shared by the scripts beside it; sourced, never run. Leaves the caller in the repository's root.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit

# Of the build and of ctest, one per core unless told otherwise.
JOBS=${JOBS:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$JOBS}

say() { printf '%s\n' "$@"; } # a line per argument
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly LOG TEXT COMMAND...: runs the command with its output in LOG, and tells TEXT with the time it took.
# If it fails the end of the log is shown, and its exit status returned.
quietly() {
  local log=$1 text=$2 status=0 started=$SECONDS
  shift 2
  mkdir -p "$(dirname "$log")"
  printf '%s ... ' "$text"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -eq 0 ]; then
    say "$((SECONDS - started)) s"
    return 0
  fi
  say "failed"
  tail -n 40 "$log" >&2
  say "${0##*/}: \`$*\` failed with status $status; the whole log is $log" >&2
  return "$status"
}

# build_preset PRESET [TARGET...]: configures and builds; everything unless targets are named.
build_preset() {
  local preset=$1 folder=build-$1
  shift
  [ "$preset" = release ] && folder=build
  quietly "$folder/log/configure.txt" "configuring $preset" cmake --preset "$preset" || return
  quietly "$folder/log/build.txt" "building $preset" cmake --build "$folder" -j "$JOBS" ${1:+--target "$@"} || return
}

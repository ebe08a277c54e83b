# Shared by the scripts beside it; sourced, never run. Leaves the caller in the repository's root.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit

# The build runs one job per core, ctest one test more than there are cores, since most tests wait most of the time.
JOBS=${JOBS:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$((JOBS + 1))}

say() { printf '%s\n' "$@"; } # a line per argument
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly LOG TEXT COMMAND...: runs the command with its output in LOG, and prints TEXT with the time it took. While
# ninja builds, its step count is shown: in place on a terminal, elsewhere every 30 s.
# If the command fails, the end of the log is shown and its exit status returned.
quietly() {
  local log=$1 text=$2 status=0 started=$SECONDS watcher
  shift 2
  mkdir -p "$(dirname "$log")"
  : >"$log"
  printf '%s ... ' "$text"
  show_steps "$log" "$text" </dev/null &
  watcher=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  if [ -t 1 ]; then printf '\r\033[K%s ... ' "$text"; fi
  if [ "$status" -eq 0 ]; then
    say "$((SECONDS - started)) s"
    return 0
  fi
  say "failed"
  tail -n 40 "$log" >&2
  say "${0##*/}: \`$*\` failed with status $status; the whole log is $log" >&2
  return "$status"
}

# show_steps LOG TEXT: shows ninja's last "[17/230]" in LOG, until it is killed or its script is gone.
show_steps() {
  local log=$1 text=$2 steps='' shown='' next=$((SECONDS + 30))
  while sleep 0.2 && kill -0 $$ 2>/dev/null; do
    [ -t 1 ] || [ "$SECONDS" -ge "$next" ] || continue
    steps=$(tail -c 4096 "$log" | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1) || true
    if [ -z "$steps" ] || [ "$steps" = "$shown" ]; then continue; fi
    shown=$steps
    if [ -t 1 ]; then
      printf '\r\033[K%s ... %s ' "$text" "$steps"
    else
      printf '%s ' "$steps"
      next=$((SECONDS + 30))
    fi
  done
}

# build_preset PRESET [TARGET...]: configures and builds; what the preset says, everything as a rule, unless targets are
# named.
build_preset() {
  local preset=$1 folder=build-$1
  shift
  [ "$preset" = release ] && folder=build
  quietly "$folder/log/configure.txt" "configuring $preset" cmake --preset "$preset" || return
  quietly "$folder/log/build.txt" "building $preset" cmake --build --preset "$preset" -j "$JOBS" \
    ${1:+--target "$@"} || return
}

#!/bin/sh
# Whether fish reads the script that distrun prints for it, and what it completes with it.
#
#   tests/shell/fish_completion.sh DISTRUN PLUGIN.so
set -eu

distrun=$1 plugin=$2
command -v fish >/dev/null || {
  echo "skipped: fish is not installed"
  exit 77
}
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
export HOME="$room"
ln -s "$plugin" flaky.so
mkdir reports
"$distrun" completion fish >distrun.fish
fish -n distrun.fish
PATH=$(dirname "$distrun"):$PATH

# expect LINE CANDIDATE...: without their descriptions.
expect() {
  line=$1
  shift
  wanted=$(printf '%s\n' "$@" | sort)
  found=$(fish -c "source distrun.fish; complete -C '$line'" | sed 's/\t.*//' | sort)
  [ "$found" = "$wanted" ] || {
    printf 'after "%s" there should be:\n%s\nbut fish found:\n%s\n' "$line" "$wanted" "$found"
    exit 1
  }
}

expect 'distrun sta' stacks
expect 'distrun --isolation ' process exec pool threads
expect 'distrun --isolation=p' --isolation=process --isolation=pool
expect 'distrun --output=r' --output=reports/
expect 'distrun flaky.so --filter Flaky.fails' Flaky.fails_once Flaky.fails_always

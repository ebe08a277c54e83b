#!/usr/bin/env bash
# Loads the script into this bash, and asks it as readline would.
#
#   tests/shell/bash_completion.sh DISTRUN PLUGIN.so
set -euo pipefail

distrun=$1 plugin=$2
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
mkdir reports
touch ring.so notes.txt
ln -s "$plugin" flaky.so

"$distrun" completion bash >distrun.bash
bash -n distrun.bash
# shellcheck source=/dev/null
source ./distrun.bash
complete -p distrun >/dev/null
bad=0

# expect "LINE" CANDIDATE...: what must be found, and nothing else, when the cursor is at the end of the line.
expect() {
  local line=$1 wanted
  shift
  ask "$line"
  wanted=$(printf '%s\n' "$@" | sort)
  if [ "$(printf '%s\n' "${COMPREPLY[@]-}" | sort)" != "$wanted" ]; then
    printf 'after "%s" there should be:\n%s\nbut bash found:\n%s\n' "$line" "$wanted" "${COMPREPLY[*]-}"
    bad=1
  fi
}

# Words as bash takes them apart: at blanks, and at = and : as words of their own.
ask() {
  local rest=${1//=/ = }
  rest=${rest//:/ : }
  read -r -a COMP_WORDS <<<"$rest"
  COMP_WORDS[0]=$distrun
  [[ $1 == *' ' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMP_LINE=$distrun${1#distrun}
  COMP_POINT=${#COMP_LINE}
  COMPREPLY=()
  _distrun
}

expect "distrun sta" stacks
expect "distrun --world" --world-size
expect "distrun --isolation " process exec pool threads
expect "distrun --isolation=p" process pool
expect "distrun run --gpu-driver v" virtual
expect "distrun completion " bash fish zsh
expect "distrun show --sl" --slow
expect "distrun --json n" notes.txt
expect "distrun --output " reports
expect "distrun run " flaky.so reports ring.so
expect "distrun flaky.so --filter Flaky.fails" Flaky.fails_once Flaky.fails_always
expect "distrun flaky.so --filter=Flaky.cr" Flaky.crashes_once
expect "distrun ring.so --filter " ""
expect "distrun --no-such" ""
expect "distrun attach nothing-runs-" ""
exit "$bad"

#!/bin/sh
# Whether zsh reads the script that distrun prints for it.
#
#   tests/shell/zsh_completion.sh DISTRUN
set -eu

command -v zsh >/dev/null || {
  echo "skipped: zsh is not installed"
  exit 77
}
script=$(mktemp)
trap 'rm -f "$script"' EXIT
"$1" completion zsh >"$script"
zsh -f -n "$script"

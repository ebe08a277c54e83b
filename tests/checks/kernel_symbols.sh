#!/usr/bin/env bash
# kernel_symbols.sh SET OBJECT...: fails if a file of kernels that was compiled for a set of instructions has left over
# an inline function of somebody else's. Of such functions the linker keeps one for the whole program, and machines
# without these instructions would run it (libdistrun/runtime/tensor/kernels/table.hpp).
set -euo pipefail

set_name=$1
shift
# W, V and u are weak. What has a type of this set in its name is nobody else's; the reference to the exception handler
# is data.
found=$(nm -C "$@" | grep -E '^[0-9a-f]* *[WVu] ' | grep -v -e "eigen_$set_name::" -e 'DW\.ref\.' || true)
if [ -n "$found" ]; then
  printf 'kernels of %s leave these over:\n%s\n' "$set_name" "$found" >&2
  exit 1
fi
echo "$# files of $set_name: nothing left over"

#!/bin/sh
# A build tree in the place of an installed package: find_package(distrun) with distrun_DIR, and plugins that are built
# and run.
#
#   tests/install/build_tree.sh BUILD_DIR
set -eu
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

logged configure cmake -S "$here/outside" -B "$room/outside" -Ddistrun_DIR="$build" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_CXX_FLAGS="$flags"
logged build cmake --build "$room/outside"
"$build/bin/distrun" --history off --gpu-driver virtual --gpus 2 "$room/outside/outside.so" \
  "$room/outside/outside_runtime.so"
echo "a build tree works as a package"

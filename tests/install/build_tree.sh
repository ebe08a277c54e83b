#!/bin/sh
# Uses a build tree in place of an installed package: find_package(distrun) with distrun_DIR, its pkg-config files, and
# plugins that are built and run.
#
#   tests/install/build_tree.sh BUILD_DIR
set -eu
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

outside outside -Ddistrun_DIR="$build"
run "$build/bin/distrun" "$room/outside/outside_gtest.so" "$room/outside/all_doors.so"
check_ctest outside

if has_pkg_config; then
  export PKG_CONFIG_PATH="$build"
  for package in distrun distrun-runtime; do
    grep -n '\.\.' "$build/$package.pc" && fail "$package.pc of the build tree has a path with .. in it"
  done
  by_hand "$room/by_hand.so" "$here/outside/outside.cpp" distrun
  by_hand "$room/all_by_hand.so" "$here/outside/all_doors.cpp" distrun distrun-runtime
  run "$build/bin/distrun" "$room/by_hand.so" "$room/all_by_hand.so"
fi
echo "a build tree works as a package"

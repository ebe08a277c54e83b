#!/bin/sh
# Makes the packages of a build and uses them: the archive where it is unpacked, the Debian packages installed with dpkg
# in a copy of this system that is thrown away (an overlay in a mount namespace, which needs root), removed again.
#
#   tests/install/packages.sh BUILD_DIR
set -eu
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

logged archive cpack --config "$build/CPackConfig.cmake" -G TGZ -B "$room/packages"
mkdir "$room/unpacked"
tar -xzf "$room"/packages/*.tar.gz -C "$room/unpacked" --strip-components=1
outside from_archive -DCMAKE_PREFIX_PATH="$room/unpacked"
run "$room/unpacked/bin/distrun" "$room/from_archive/all_doors.so"
check_ctest from_archive

if ! command -v dpkg-shlibdeps > /dev/null; then
  echo "the archive works; Debian packages are not made here: there is no dpkg-shlibdeps"
  exit 0
fi
logged debian cpack --config "$build/CPackConfig.cmake" -G DEB -B "$room/packages"
packages="libdistrun-dev distrun"
if [ -x "$build/bin/distrun-pmix" ]; then packages="distrun-mpi $packages"; fi
for package in $packages; do
  dpkg-deb --contents "$room/packages/${package}_"*.deb > "$room/$package.list"
done
grep -q '\./usr/bin/distrun-probe$' "$room/distrun.list" || fail "distrun.deb lacks a program"
grep -q '/bin/distrun-pmix$' "$room/distrun.list" && fail "distrun.deb has what needs libpmix"
if [ -f "$room/distrun-mpi.list" ]; then
  grep -q '\./usr/bin/distrun-pmix$' "$room/distrun-mpi.list" || fail "distrun-mpi.deb lacks its program"
  dpkg-deb --field "$room"/packages/distrun-mpi_*.deb Depends | grep -q 'libpmix2' ||
    fail "distrun-mpi.deb does not depend on libpmix2"
fi
grep -q '\.hpp$' "$room/distrun.list" && fail "distrun.deb has headers"
grep -q '/distrunConfig.cmake$' "$room/libdistrun-dev.list" || fail "libdistrun-dev.deb has no CMake files"
dpkg-deb --field "$room"/packages/distrun_*.deb Depends | grep -q 'libc6' || fail "distrun.deb depends on nothing"

# Runs within the copy; / is writable, but nothing of it remains.
cat > "$room/in_copy.sh" << 'END'
set -eu
room=$1
mount -t proc proc /proc
find /usr /etc -path '*distrun*' > "$room/before"
dpkg --install "$room"/packages/*.deb
plugins=$room/from_deb
cmake -S "$2" -B "$plugins" -DCMAKE_CXX_FLAGS="-O0 -g0"
cmake --build "$plugins" --target found_by_ctest
distrun --history off -w 2 -f anywhere --env FOUND_FIRST=1 --env FOUND_SECOND=2 "$plugins/found_by_ctest.so"
man -l /usr/share/man/man1/distrun.1 > /dev/null 2>&1 || [ ! -x /usr/bin/man ]
dpkg --remove $3 > /dev/null
find /usr /etc -path '*distrun*' > "$room/after"
cmp "$room/before" "$room/after"
END
mkdir "$room/upper" "$room/work" "$room/copy"
if ! unshare --mount sh -c "mount -t tmpfs tmpfs '$room/upper' && mkdir '$room/upper/up' '$room/upper/work' &&
  mount -t overlay overlay -o lowerdir=/,upperdir='$room/upper/up',workdir='$room/upper/work' '$room/copy'" \
  2> "$room/overlay.log"; then
  echo "the archive works; the Debian packages were made, but not installed: $(cat "$room/overlay.log")"
  exit 0
fi
logged installed unshare --mount --pid --fork sh -c "mount -t tmpfs tmpfs '$room/upper' &&
  mkdir '$room/upper/up' '$room/upper/work' &&
  mount -t overlay overlay -o lowerdir=/,upperdir='$room/upper/up',workdir='$room/upper/work' '$room/copy' &&
  mount --bind '$room' '$room/copy$room' && mount --bind /dev '$room/copy/dev' &&
  mount --bind '$here' '$room/copy$here' &&
  chroot '$room/copy' sh '$room/in_copy.sh' '$room' '$here/outside' '$packages'"
echo "the archive and the Debian packages work"

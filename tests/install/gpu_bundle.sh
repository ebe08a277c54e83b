#!/bin/sh
# Uses a bundle for a GPU machine as on that machine: from another directory, with an empty environment, and with none
# of this machine's libraries but glibc. Its suites run on emulated GPUs.
#
#   tests/install/gpu_bundle.sh BUILD_DIR
set -eu
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
scripts=$here/../../scripts
moved="$room/moved to here"

for module in cuda nccl; do
  [ -f "$build/lib/distrun/distrun_$module.so" ] || {
    echo "skipped: distrun was built without the module distrun_$module.so" >&2
    exit 77
  }
done
# runs CODE [ARGUMENT...]: runs the bundle as another user would, and expects the exit code.
runs() {
  wanted=$1
  shift
  code=0
  env -i PATH=/usr/bin:/bin HOME=/nowhere DISTRUN_GPU_SCALE=4 "$moved/run" "$@" > "$room/run.log" 2>&1 || code=$?
  [ "$code" = "$wanted" ] || fail "run $* ended with $code, and $wanted is wanted:
$(cat "$room/run.log")"
}

mkdir "$room/full"
echo "mine" > "$room/full/file"
if "$scripts/gpu-bundle" "$room/full" --from "$build" 2> "$room/refused.log"; then
  fail "a folder with files was replaced"
fi
grep -q "neither empty nor a bundle" "$room/refused.log" || fail "it said: $(cat "$room/refused.log")"
[ -f "$room/full/file" ] || fail "the file is gone"

logged bundle "$scripts/gpu-bundle" "$room/bundle" --from "$build"
logged again "$scripts/gpu-bundle" "$room/bundle" --from "$build"
mv "$room/bundle" "$moved"
size=$(du -sm --apparent-size "$moved" | cut -f1)
[ "$size" -le 60 ] || fail "the bundle has $size MiB"

find "$moved" -type f \( -path '*/bin/*' -o -name '*.so*' \) > "$room/objects"
while IFS= read -r object; do
  if readelf -d "$object" | grep -E 'R(UN)?PATH'; then fail "$object has a run path"; fi
  if readelf -S "$object" | grep -q '\.debug_info'; then fail "$object is not stripped"; fi
  env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="$moved/lib" ldd "$object" > "$room/ldd" 2>&1 ||
    fail "$object: $(cat "$room/ldd")"
  if grep 'not found' "$room/ldd"; then fail "$object does not find its libraries"; fi
  if grep '=> /' "$room/ldd" | grep -vF "=> $moved/lib/" | grep -vE '^\s*lib(c|m|dl|rt|pthread|resolv)\.so\.'; then
    fail "$object uses more of this machine than glibc"
  fi
done < "$room/objects"
[ "$(wc -l < "$room/objects")" -gt 20 ] || fail "the bundle has $(wc -l < "$room/objects") programs and libraries"

runs 0 --virtual contract_cuda tensor_kernels tensor
for suite in contract_cuda tensor_kernels tensor; do
  grep -qE "^$suite +[1-9][0-9]* +0 +[0-9]+ +0 " "$room/run.log" || fail "$suite has not passed: $(cat "$room/run.log")"
done
if [ ! -e /dev/nvidia0 ]; then
  runs 77
  grep -q "skipped: there is no GPU: " "$room/run.log" || fail "it said: $(cat "$room/run.log")"
  code=0
  "$scripts/gpu-check" > "$room/check.log" 2>&1 || code=$?
  [ "$code" = 77 ] || fail "gpu-check ended with $code: $(cat "$room/check.log")"
fi
# A bundle with a missing part must not pass.
rm "$moved/plugins/tensor.so"
runs 1 --virtual tensor
echo "a bundle runs on another machine"

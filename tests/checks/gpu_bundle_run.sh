#!/usr/bin/env bash
# scripts/gpu_bundle/run in a bundle whose programs are made up: what it counts, prints and returns.
set -euo pipefail
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
bundle=$room/bundle
mkdir -p "$bundle"/{bin,lib,plugins,golden}
cp "$(dirname "$0")/../../scripts/gpu_bundle/run" "$bundle/run"
echo 2.17 >"$bundle/glibc"

fail() {
  printf '%s\n' "gpu_bundle_run.sh: $1" "it printed:" "$(cat "$room/out")" >&2
  exit 1
}
# program NAME: a program of the bundle, whose text is read.
program() {
  { echo '#!/usr/bin/env bash' && cat; } >"$bundle/bin/$1"
  chmod +x "$bundle/bin/$1"
}
# expect CODE [ARGUMENT...]: runs it; the output is for the checks that follow.
expect() {
  local code=0 wanted=$1
  shift
  DISTRUN_GPU_CASE_S=3 "$bundle/run" "$@" >"$room/out" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || fail "run $* ended with $code, and $wanted is wanted"
}
has() { grep -qE -- "$1" "$room/out" || fail "no line is like: $1"; }
has_not() { ! grep -qE -- "$1" "$room/out" || fail "a line is like: $1"; }

program show_gpus <<'FAKE'
echo "cuda:0  Made-up GPU, 1.0 GiB"
echo "nccl    2.28.9"
FAKE
program contract_cuda <<'FAKE'
case $1 in
  --list-test-names-only) printf '%s\n' 'takes [a, list]' 'needs two'; exit 2 ;;
  'takes \[a\, list]') exit 0 ;;
  'needs two') echo "skipped: there is one device" >&2; exit 77 ;;
  *) exit 1 ;;
esac
FAKE
program unit_device <<'FAKE'
[ "$1" != --list-test-names-only ] || { echo "passes"; exit 1; }
[ "$1" = passes ]
FAKE
program unit_tensor_cuda <<'FAKE'
case $1 in
  --list-test-names-only) printf '%s\n' "differs" "hangs"; exit 2 ;;
  differs) echo "3 == 4 on $DISTRUN_TEST_GPUS"; exit 1 ;;
  hangs) exec sleep 100 ;;
esac
FAKE
# What is printed of a plugin's tests, and the exit code.
program distrun <<'FAKE'
plugin=$(basename "${!#}" .so)
if [ "$1" = list ]; then
  printf '%s\n' A.a A.b A.c
  exit
fi
echo "$plugin: $*" >&2
case $plugin in
  tensor) printf '%s\n' "pass  1 ms  A.a" "pass  1 ms  A.b" "skip  0 us  A.c - needs 2 devices" "" \
    "2 pass, 1 skip in 1.0 s" ;;
  collectives) echo "error: the plugin cannot be loaded"; exit 3 ;;
  cuda_rpc) printf '%s\n' "pass  1 ms  A.a" "crash 1 ms  A.b" "" "crash: A.b" "  the stack of rank 1" "" \
    "2 pass, 1 crash in 1 min 3 s"; exit 1 ;;
  dist_autograd) printf '%s\n' "" "interrupted, 1 pass, 1 cancelled in 9.0 s"; exit 130 ;;
  profiler) printf '%s\n' "skip  0 us  A.a - needs a GPU" "" "3 skip in 1 ms"; exit 4 ;;
esac
FAKE

expect 1
has '^cuda:0 +Made-up GPU'
has '^contract_cuda +1 +0 +1 +0 '
has '^  skipped 1: there is one device$'
has '^tensor_kernels +0 +2 +0 +0 '
has '^tensor +2 +0 +1 +0 '
has '^collectives +0 +0 +0 +3 '
has '^cuda_rpc +2 +1 +0 +0 '
has '^dist_autograd +1 +0 +0 +2 '
has '^profiler +0 +0 +3 +0 '
has '^unit_device +1 +0 +0 +0 '
has '^failed: differs$'
has '^3 == 4 on cuda$'
has '^it did not end in time$'
has '^error: the plugin cannot be loaded$'
has '^collectives: run --world-size 1 --backend nccl .*--gpu-driver cuda '
has '^  the stack of rank 1$'
has_not '^pass '
has '^8 suites on 1 GPU: 7 passed, 3 failed, 5 skipped, 5 not run in '

expect 0 contract_cuda unit_device
has '^2 suites on 1 GPU: 2 passed, 0 failed, 1 skipped, 0 not run in '
has_not '^tensor'
# Only skips are no success.
expect 1 profiler
expect 0 tensor --reports "$room/reports"
[ -s "$room/reports/tensor.txt" ] || fail "no report was kept"

program contract_virtual <<'FAKE'
[ "$1" != --list-test-names-only ] || { echo "passes"; exit 1; }
[ -z "${DISTRUN_TEST_GPUS:-}" ]
FAKE
expect 0 --virtual contract_cuda tensor
has '^2 suites on 1 virtual GPU: 3 passed'
DISTRUN_GPU_TOTAL_S=0 expect 1 tensor
has '^tensor +0 +0 +0 +1 '

program show_gpus <<'FAKE'
echo "no CUDA device: no driver" >&2
exit 77
FAKE
expect 77
has '^skipped: there is no GPU: no CUDA device: no driver$'
has_not '^tensor'

expect 2 tensors
has 'unknown suite or option tensors'
echo 99.1 >"$bundle/glibc"
expect 1
has 'needs glibc 99.1 or later, and this machine has [0-9]'
echo "a bundle's run counts, prints and returns what came of its suites"

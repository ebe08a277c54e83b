#!/usr/bin/env bash
# thread_destructors.sh LIBRARY: fails if the library has a thread_local object with a destructor. Registering one takes
# memory, and glibc ends the process when there is none (libdistrun/common/base/thread_object.hpp, to use instead).
set -euo pipefail

symbols=$(nm -D "$1")
if ! grep -q ' pthread_setspecific' <<<"$symbols"; then
  echo "$1 does not use ThreadObject: is this the runtime?" >&2
  exit 1
fi
if grep '__cxa_thread_atexit' <<<"$symbols" >&2; then
  echo "$1 has a thread_local object with a destructor; base::ThreadObject needs no memory" >&2
  exit 1
fi
echo "no thread_local object of $1 has a destructor"

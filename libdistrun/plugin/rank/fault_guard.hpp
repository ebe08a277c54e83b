#pragma once
// Runs code that may fault without ending the process: walking a stack or a list that a test may have damaged. Survives
// only signals that crash_handler.cpp handles; a handler of the test or a sanitizer takes precedence.
//
// Any thread. Async-signal-safe.
#include <setjmp.h>

#include <atomic>

namespace distrun::rank {

// The jump target for a fault of this thread; null outside of survives().
extern constinit thread_local sigjmp_buf* way_out;

// Returns false if the body faulted. The body is abandoned at the fault, so it must own nothing and hold no lock.
template <class Body>
bool survives(const Body& body) {
  sigjmp_buf here;
  sigjmp_buf* const outer = way_out;
  if (sigsetjmp(here, 1) != 0) {
    way_out = outer;
    return false;
  }
  way_out = &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  body();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  way_out = outer;
  return true;
}

// Called by the handler of a fault: does not return if this thread is within survives().
inline void leave_if_guarded() {
  if (way_out != nullptr) siglongjmp(*way_out, 1);
}

}  // namespace distrun::rank

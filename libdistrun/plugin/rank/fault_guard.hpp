#pragma once
// Code that may fault and must not end the process by it: walking a stack or a list that a test may have
// scribbled over. Only faults whose signals crash_handler.cpp handles are survived; where the test or a sanitizer
// has a handler of its own, that one decides.
//
// Any thread. Async-signal-safe.
#include <setjmp.h>

#include <atomic>

namespace distrun::rank {

// Where a fault of this thread leads; null outside of survives().
extern constinit thread_local sigjmp_buf* way_out;

// False if the body faulted; it was left where it stood then, so it must own nothing and hold no lock.
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

// For the handler of a fault: does not return if this thread is within survives().
inline void leave_if_guarded() {
  if (way_out != nullptr) siglongjmp(*way_out, 1);
}

}  // namespace distrun::rank

#pragma once
// How the backend nccl waits and handles errors, by the usual variables:
//
//   TORCH_NCCL_BLOCKING_WAIT         1: a wait for work blocks until it is done, and throws its error
//   TORCH_NCCL_ASYNC_ERROR_HANDLING  0: no watchdog; only threads that block for a call see its error. Otherwise, also
//   if
//                                    unset: a watchdog aborts the communicators of a group with a failed or overdue
//                                    call. The process continues in both cases
//
// The older names NCCL_BLOCKING_WAIT and NCCL_ASYNC_ERROR_HANDLING mean the same.

namespace distrun::collectives {

struct NcclSettings {
  bool blocking_wait = false;
  bool has_watchdog = true;
};

// Reads the environment. Throws Error{InvalidArgument, "ValueError"} for values that are not numbers.
NcclSettings read_nccl_settings();

}  // namespace distrun::collectives

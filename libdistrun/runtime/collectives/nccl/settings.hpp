#pragma once
// How the backend nccl is told to wait and to handle errors, by the names that people know:
//
//   TORCH_NCCL_BLOCKING_WAIT         1: a wait for a work blocks until it is done, and throws what goes wrong
//   TORCH_NCCL_ASYNC_ERROR_HANDLING  0: nobody looks after calls on the side; what goes wrong is seen by who blocks for
//                                    it. Else (if it is not set, too) a watchdog aborts the communicators of a group of
//                                    which a call fails or takes too long. The process goes on in any case
//
// The older names NCCL_BLOCKING_WAIT and NCCL_ASYNC_ERROR_HANDLING mean the same.

namespace distrun::collectives {

struct NcclSettings {
  bool blocking_wait = false;
  bool has_watchdog = true;
};

// What the environment says now. Throws Error{InvalidArgument, "ValueError"} for values that are no numbers.
NcclSettings read_nccl_settings();

}  // namespace distrun::collectives

#pragma once
// Shared memory of the CUDA driver: a process that exports memory or events to others makes
// /dev/shm/cuda.shm.USER.PROCESS.NUMBER, with the user in decimal and the process in hexadecimal digits, and removes it
// only when it ends by exit(). (Seen with driver 580.)
#include <sys/types.h>

#include <set>
#include <string_view>

namespace distrun::proc {

// Returns the process that has made this file; 0: it is not one of the CUDA driver.
pid_t maker_of_cuda_name(std::string_view path) noexcept;

// Returns whether the CUDA driver has made this file in one of these processes.
bool is_cuda_name_of(std::string_view path, const std::set<pid_t>& processes) noexcept;

}  // namespace distrun::proc

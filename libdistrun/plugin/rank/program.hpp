#pragma once
// A rank of `distrun exec`: this process is prepared as a rank's, and becomes somebody's program.
#include <sys/types.h>

#include <cstdint>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::rank {

struct ProgramOrder {
  std::uint64_t tag = 0;        // marks the program and its descendants
  std::uint64_t files_max = 0;  // the limit of open files that the user had
  pid_t coordinator_pid = 0;
  wire::MountSpace space;  // in which it lives
  const char* path = nullptr;
  char** arguments = nullptr;  // from argv[0] on, ended by a null pointer
};

// `line` closes when the program begins: that is how the coordinator learns of it. If it cannot, an error on the line
// says why.
[[noreturn]] void become_program(base::Fd line, const ProgramOrder& order);

}  // namespace distrun::rank

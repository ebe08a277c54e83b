#pragma once
// A rank of `distrun exec`: prepares this process like a rank's, and then executes the user's program.
#include <sys/types.h>

#include <cstdint>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::rank {

struct ProgramOrder {
  std::uint64_t tag = 0;        // marks the program and its descendants
  std::uint64_t files_max = 0;  // the user's limit of open files
  pid_t coordinator_pid = 0;
  wire::MountSpace space;  // mounts of the program
  std::string cpus;        // that it runs on: "0-3,8"; empty: any
  const char* path = nullptr;
  char** arguments = nullptr;  // from argv[0] on, ended by a null pointer
};

// `line` closes when the program begins, which notifies the coordinator. On failure, it gets an error.
[[noreturn]] void become_program(base::Fd line, const ProgramOrder& order);

}  // namespace distrun::rank

#pragma once
// Another program of the same user that constantly creates, keeps and removes files, sockets, shared memory and
// processes (neighbour_main.cpp), for tests that must not depend on it.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"

namespace distrun::testing {

class Neighbour {
 public:
  // `program` is the neighbour. It creates names that begin with "neighbour-" in `directories` and in /dev/shm. Throws
  // std::runtime_error if it cannot be started.
  Neighbour(std::string program, std::vector<std::string> directories);
  // Stops the neighbour unless stop() did.
  ~Neighbour();

  pid_t pid() const noexcept { return running_->pid(); }
  // Stops the neighbour, which removes everything that it created, and returns its report. Its exit code is not 0 if it
  // ended before.
  Ended stop();

 private:
  Scratch scratch_;
  std::unique_ptr<Running> running_;
};

// Returns whether a neighbour created this name.
bool is_of_neighbour(std::string_view name);

}  // namespace distrun::testing

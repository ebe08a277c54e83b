#pragma once
// Another program of the same user that makes, keeps and removes files, sockets, shared memory and processes all the
// time (neighbour_main.cpp), for tests that must come to the same beside it.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"

namespace distrun::testing {

class Neighbour {
 public:
  // `program` is the neighbour; the names that it makes are in `directories` and in /dev/shm, and begin with
  // "neighbour-". Throws std::runtime_error if it cannot be started.
  Neighbour(std::string program, std::vector<std::string> directories);
  // Ends it, if stop() has not.
  ~Neighbour();

  pid_t pid() const noexcept { return running_->pid(); }
  // Ends it: all that it has made is gone. What it says of that; its exit code is not 0 if it ended before.
  Ended stop();

 private:
  Scratch scratch_;
  std::unique_ptr<Running> running_;
};

// Whether a name is one that a neighbour has made.
bool is_of_neighbour(std::string_view name);

}  // namespace distrun::testing

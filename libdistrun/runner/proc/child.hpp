#pragma once
// The only place where programs are started. Between fork and exec no code of distrun runs except one initializer that
// makes system calls only. Loop thread only.
#include <boost/asio/io_context.hpp>

#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/fd.hpp>

namespace distrun::proc {

struct ChildSpec {
  std::string program;                   // absolute path
  std::vector<std::string> arguments;    // without argv[0]
  std::vector<std::string> environment;  // "KEY=value"; complete
  // Descriptor of this process -> its number in the child, 0 to 4, without a gap after 2. Standard streams are
  // /dev/null unless listed; the child gets no other descriptors.
  std::vector<std::pair<int, int>> descriptors;

  // The following fields apply to start_helper only.
  std::string name;    // argv[0]; empty: `program`
  int file_mask = -1;  // umask; -1: inherited
  // Starts the child in a new session without this terminal; it gets SIGTERM when the thread that started it ends.
  bool own_session = false;
};

struct Child {
  pid_t pid = 0;
  base::Fd pidfd;
};

// Both start a program as leader of a new process group, with no signal blocked or ignored. Throw Error{Failed} with
// the program's name if it cannot be started, and leave nothing behind. The caller reaps. start_helper uses
// Boost.Process, for listers and zygotes: `context` must be run only by this thread.
Child start_helper(boost::asio::io_context& context, const ChildSpec& spec);
// Uses posix_spawn, which is several times cheaper if the coordinator's heap is large.
Child start_rank(const ChildSpec& spec);

// Returns this process's environment without the variables that distrun sets in ranks.
std::vector<std::string> inherited_environment();

}  // namespace distrun::proc

#pragma once
// The one place where programs are started. Nothing of ours runs between fork and exec but one
// initializer that makes system calls only. Loop thread only.
#include <boost/asio/io_context.hpp>

#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/fd.hpp>

namespace distrun::proc {

struct ChildSpec {
  std::string program;                   // an absolute path
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "KEY=value"; the whole of it
  // Descriptor of ours -> its number in the child, 0 to 4, without a gap after 2. Standard streams are /dev/null
  // unless named; the child has these descriptors and no others.
  std::vector<std::pair<int, int>> descriptors;

  // The rest is done by start_helper only.
  std::string name;    // its argv[0]; empty: `program`
  int file_mask = -1;  // umask; -1: ours
  // It leads a session of its own, so no terminal of ours reaches it, and gets SIGTERM from the kernel when the thread
  // that started it has ended.
  bool own_session = false;
};

struct Child {
  pid_t pid = 0;
  base::Fd pidfd;
};

// The program leads a process group of its own, with no signal blocked or ignored. Throws Error{Failed}
// with the program's name if it cannot be started; nothing is left then. The caller reaps.
// start_helper uses Boost.Process, for listers and zygotes: `context` must be run by this thread alone.
Child start_helper(boost::asio::io_context& context, const ChildSpec& spec);
// start_rank uses posix_spawn: several times cheaper where a coordinator's heap is large.
Child start_rank(const ChildSpec& spec);

// This process's environment without the variables that distrun gives meaning to in ranks.
std::vector<std::string> inherited_environment();
// The whole of it, with `variables` ("KEY=value") in place of those of the same names. Of equal names the last counts.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

}  // namespace distrun::proc

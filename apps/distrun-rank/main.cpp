// The only program that loads plugins. The coordinator starts it, with their line as descriptor 3. Descriptor 4 is the
// memory in which a lister or a zygote records a crash (common/board/shared_dump.hpp).
//
//   distrun-rank --list PLUGIN                        lister: reports the plugin's tests, once
//   distrun-rank --zygote PLUGIN COORDINATOR_PID      zygote: forks ranks on request
//   distrun-rank --mounts [FROM TO]...                creates mounts and passes on their namespace
//   distrun-rank --rank PLUGIN TAG FILES_MAX MOUNTS USERS        a rank started by exec
//   distrun-rank --wrapped-rank ...                   the same, under a command like strace, which may stay its parent
//   distrun-rank --program TAG FILES_MAX MOUNTS USERS COORDINATOR_PID CPUS PATH ARGV0 ARGUMENT...    a rank that
//                                                     executes a program; MOUNTS and USERS are namespaces, or empty
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>
#include <distrun/plugin/rank/crash_handler.hpp>
#include <distrun/plugin/rank/entry.hpp>
#include <distrun/plugin/rank/limits.hpp>
#include <distrun/plugin/rank/lister.hpp>
#include <distrun/plugin/rank/mount_space.hpp>
#include <distrun/plugin/rank/program.hpp>
#include <distrun/plugin/rank/sanitizer_preload.hpp>
#include <distrun/plugin/rank/whole_lines.hpp>
#include <distrun/plugin/rank/zygote.hpp>

namespace {

constexpr int kLineFd = 3;
constexpr int kBoardFd = 4;  // of a rank
constexpr int kDumpFd = 4;   // of a lister or a zygote, if there is one
constexpr int kUsage = 2;

distrun::base::Fd take_line() {
  ::fcntl(kLineFd, F_SETFD, FD_CLOEXEC);
  return distrun::base::Fd(kLineFd);
}

bool has_line() {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(kLineFd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// TAG marks this rank's descendants; FILES_MAX is the user's limit of open files.
[[noreturn]] void run_exec_rank(char** words) {
  distrun::rank::set_tag(std::strtoull(words[1], nullptr, 10));
  distrun::rank::restore_files_limit(std::strtoull(words[2], nullptr, 10));
  ::fcntl(kBoardFd, F_SETFD, FD_CLOEXEC);
  distrun::rank::run_rank(take_line(), distrun::base::Fd(kBoardFd), nullptr, words[0], {words[3], words[4]});
}

[[noreturn]] void run_program(char** words) {
  distrun::rank::ProgramOrder order;
  order.tag = std::strtoull(words[0], nullptr, 10);
  order.files_max = std::strtoull(words[1], nullptr, 10);
  order.space = {words[2], words[3]};
  order.coordinator_pid = std::atoi(words[4]);
  order.cpus = words[5];
  order.path = words[6];
  order.arguments = words + 7;
  distrun::rank::become_program(take_line(), order);
}

}  // namespace

int main(int argc, char** argv) {
  distrun::base::mend_inherited_state();
  distrun::rank::print_whole_lines();
  const std::string mode = argc > 2 ? argv[1] : "";
  const bool is_rank = mode == "--rank" || mode == "--wrapped-rank";
  if (!has_line()) {
    std::fputs("distrun-rank is started by distrun and has no use of its own; try: distrun --help\n", stderr);
    return kUsage;
  }
  if (mode == "--list" || mode == "--zygote" || is_rank) distrun::rank::preload_sanitizer(argv[2], argv);
  distrun::rank::prepare_to_leave();
  try {
    if ((mode == "--list" || mode == "--zygote") && ::fcntl(kDumpFd, F_GETFD) >= 0) {
      distrun::rank::install_crash_handler(distrun::base::Fd(kDumpFd));  // loading a plugin may crash
    }
    if (mode == "--list" && argc == 3) distrun::rank::leave_at_once(distrun::rank::run_lister(argv[2], take_line()));
    if (mode == "--zygote" && argc == 4) {
      distrun::rank::leave_at_once(distrun::rank::run_zygote(argv[2], take_line(), std::atoi(argv[3])));
    }
    if (mode == "--mounts") distrun::rank::leave_at_once(distrun::rank::make_mount_space(argv + 2, take_line()));
    if (mode == "--program" && argc >= 10) run_program(argv + 2);
    if (mode == "--wrapped-rank") distrun::rank::expect_wrapper();
    if (is_rank && argc == 7) run_exec_rank(argv + 2);
  } catch (const distrun::Error& error) {
    std::fprintf(stderr, "distrun-rank: %s\n", error.what());
    distrun::rank::leave_at_once(1);
  }
  std::fputs("distrun-rank: unknown arguments\n", stderr);
  return kUsage;
}

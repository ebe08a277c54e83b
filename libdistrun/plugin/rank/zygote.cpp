#include <distrun/plugin/rank/zygote.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/wire/packet.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/plugin/rank/crash_handler.hpp>
#include <distrun/plugin/rank/entry.hpp>
#include <distrun/plugin/rank/fork_ranks.hpp>
#include <distrun/plugin/rank/limits.hpp>

namespace distrun::rank {
namespace {

constexpr int kControlFd = 3;           // in a rank; before the fork, the zygote's own line
constexpr std::size_t kTextMax = 4096;  // of an error in a packet

int thread_count() {
  struct stat status {};
  return ::stat("/proc/self/task", &status) == 0 ? static_cast<int>(status.st_nlink) - 2 : 1;
}

bool has_device_open() {
  DIR* files = ::opendir("/proc/self/fd");
  if (files == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(files)) {
    char target[64] = "";
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (::readlink(path.c_str(), target, sizeof target - 1) > 0) {
      found = found || std::string(target).starts_with("/dev/nvidia");
    }
  }
  ::closedir(files);
  return found;
}

// Returns why this process must not be forked; empty if it may.
std::string why_unsafe() {
  // The sanitizer dies in a fork through an intermediate that shares its memory (clang 14).
  if (base::kThreadSanitizer) return "distrun-rank is built with the thread sanitizer";
  const int threads = thread_count() - 1;
  if (threads > 0) {
    return "the plugin started " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
           " while loading, which a fork would lose";
  }
  return has_device_open() ? "the plugin opened a GPU while loading, which a fork cannot share" : "";
}

std::unique_ptr<Plugin> load(const std::string& path, wire::ZygoteReady& ready) {
  try {
    auto plugin = std::make_unique<Plugin>(path);
    ready.unsafe = why_unsafe();
    return plugin;
  } catch (const Error& error) {
    ready.error = std::string(error.what()).substr(0, kTextMax);
    return nullptr;
  }
}

template <class T>
void answer(const base::Fd& line, const T& message) {
  wire::send_packet(line.get(), wire::view_of(wire::encode(message)));
}

// Sets up a new rank: its process group, its output, the control socket, and no descriptor of the other ranks. A socket
// of another rank left open here would hide that rank's death.
[[noreturn]] void become_rank(int rank, wire::Packet& packet, const wire::ForkOrder& order, base::Fd& line,
                              const sigset_t& mask, const Plugin& plugin) {
  ::setpgid(0, 0);
  const auto first = static_cast<std::size_t>(rank) * 3;
  ::dup2(packet.fds[first + 1].get(), STDOUT_FILENO);
  ::dup2(packet.fds[first + 2].get(), STDERR_FILENO);
  line.release();
  ::dup3(packet.fds[first].get(), kControlFd, O_CLOEXEC);
  base::Fd board = std::move(packet.fds.back());
  packet.fds.clear();
  restore_files_limit(order.files_max);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  run_rank(base::Fd(kControlFd), std::move(board), &plugin, "", order.space);
}

wire::ForkAnswer fork_all(wire::Packet& packet, const wire::ForkOrder& order, base::Fd& line, const Plugin& plugin) {
  static const std::uint64_t own_tag = tag();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  std::fflush(nullptr);  // so that output of the plugin's loading is not repeated by every rank
  ::sigprocmask(SIG_SETMASK, &all, &before);
  // Set before the fork, so that ranks are recognised from the start: the sweep of another attempt may see them before
  // their own attempt knows their pids.
  set_tag(order.tag);
  Forked forked = fork_ranks(order.ranks);
  if (forked.rank >= 0) become_rank(forked.rank, packet, order, line, before, plugin);
  set_tag(own_tag);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return {std::move(forked.pids), forked.error};
}

bool is_sound(const wire::ForkOrder& order, const wire::Packet& packet) {
  return order.ranks > 0 && order.ranks <= wire::kRanksPerRequest &&
         packet.fds.size() == static_cast<std::size_t>(order.ranks) * 3 + 1;
}

// Answers orders with an error if this process has too many open descriptors to receive theirs.
std::optional<wire::Packet> next_packet(const base::Fd& line) {
  for (;;) {
    try {
      return wire::receive_packet(line.get());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Overloaded) throw;
      answer(line, wire::ForkAnswer{{}, EMFILE});
    }
  }
}

}  // namespace

int run_zygote(const std::string& path, base::Fd line, int coordinator_pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != coordinator_pid) return 1;
  let_probe_in(coordinator_pid);
  prepare_crash_handler();  // once for all ranks
  wire::ZygoteReady ready;
  const std::unique_ptr<Plugin> plugin = load(path, ready);
  answer(line, ready);
  if (!plugin || !ready.unsafe.empty()) return 0;
  while (auto packet = next_packet(line)) {
    const auto order = wire::decode<wire::ForkOrder>(wire::view_of(packet->bytes));
    if (!is_sound(order, *packet)) return 1;
    answer(line, fork_all(*packet, order, line, *plugin));
  }
  return 0;
}

}  // namespace distrun::rank

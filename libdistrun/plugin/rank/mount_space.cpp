#include <distrun/plugin/rank/mount_space.hpp>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/packet.hpp>

namespace distrun::rank {
namespace {

constexpr char kOwnMounts[] = "/proc/self/ns/mnt";
constexpr char kOwnUsers[] = "/proc/self/ns/user";

base::Fd open_path(const std::string& path, int flags) {
  base::Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) base::throw_errno("cannot open " + path, errno);
  return fd;
}

void write_to(const char* path, const std::string& text) {
  const base::Fd file = open_path(path, O_WRONLY);
  if (::write(file.get(), text.data(), text.size()) < 0) base::throw_errno(std::string("cannot write ") + path, errno);
}

std::string to_itself(unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1\n"; }

// Returns false if this user needs no user namespace.
bool unshare_mounts() {
  if (::unshare(CLONE_NEWNS) == 0) return false;
  if (errno != EPERM) base::throw_errno("unshare", errno);
  const unsigned user = ::geteuid();
  const unsigned group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) base::throw_errno("unshare", errno);
  write_to("/proc/self/setgroups", "deny");
  write_to("/proc/self/uid_map", to_itself(user));
  write_to("/proc/self/gid_map", to_itself(group));
  return true;
}

void bind(const char* from, const char* to) {
  // Includes submounts: a user namespace may not reveal what they hide.
  if (::mount(from, to, nullptr, MS_BIND | MS_REC, nullptr) == 0) return;
  base::throw_errno(std::string("cannot mount ") + from + " on " + to, errno);
}

void answer(const base::Fd& line, const std::string& error, const std::vector<int>& fds) {
  wire::send_packet(line.get(), wire::view_of(wire::encode(wire::MountsMade{error})), fds);
}

void make(char** words, const base::Fd& line) {
  const bool own_users = unshare_mounts();
  // Unmounts elsewhere propagate here; mounts made here are seen nowhere else.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) base::throw_errno("mount", errno);
  for (; words[0] != nullptr && words[1] != nullptr; words += 2) bind(words[0], words[1]);
  const base::Fd mounts = open_path(kOwnMounts, O_RDONLY);
  const base::Fd users = open_path(kOwnUsers, O_RDONLY);
  std::vector<int> fds{mounts.get()};
  if (own_users) fds.push_back(users.get());
  answer(line, "", fds);
}

// In its user namespace a process has all capabilities, and thus root's privileges over its user's files.
void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0) base::throw_errno("capset", errno);
}

void enter(const base::Fd& space, int kind) {
  if (::setns(space.get(), kind) != 0) base::throw_errno("setns", errno);
}

}  // namespace

int make_mount_space(char** words, const base::Fd& line) {
  try {
    make(words, line);
    return 0;
  } catch (const Error& error) {
    answer(line, error.what(), {});
    return 1;
  }
}

void enter(const wire::MountSpace& space) {
  if (space.mounts.empty()) return;
  char here[PATH_MAX];
  const bool has_place = ::getcwd(here, sizeof here) != nullptr;
  try {
    const base::Fd mounts = open_path(space.mounts, O_RDONLY);
    if (!space.users.empty()) {
      enter(open_path(space.users, O_RDONLY), CLONE_NEWUSER);
      enter(mounts, CLONE_NEWNS);
      if (::geteuid() != 0) drop_capabilities();
    } else {
      enter(mounts, CLONE_NEWNS);
    }
  } catch (Error& error) {
    throw error.while_doing("entering the private /tmp");
  }
  if (!has_place || ::chdir(here) != 0) (void)!::chdir("/");
}

}  // namespace distrun::rank

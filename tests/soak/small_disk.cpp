#include "small_disk.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "support/scratch.hpp"

namespace distrun::soak {
namespace {

// If only root may mount, a user can be root of a user namespace; file ownership stays the same.
bool own_users_and_mounts() {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  testing::write_file("/proc/self/setgroups", "deny");
  testing::write_file("/proc/self/uid_map", user + " " + user + " 1");
  testing::write_file("/proc/self/gid_map", group + " " + group + " 1");
  return true;
}

}  // namespace

bool own_mounts() {
  if (unshare(CLONE_NEWNS) != 0 && !own_users_and_mounts()) return false;
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

SmallDisk::SmallDisk(std::string path) : path_(std::move(path)) {
  if (mount("soak", path_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0700") != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot mount a small disk over " + path_);
  }
}

SmallDisk::~SmallDisk() { umount2(path_.c_str(), MNT_DETACH); }

}  // namespace distrun::soak

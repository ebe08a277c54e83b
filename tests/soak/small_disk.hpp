#pragma once
// A disk that is soon full: a tmpfs over a directory, where this user may mount one.
#include <string>

namespace distrun::soak {

// Gives this process mounts of its own, so that none outlives it. To be called once, before any thread is made. False:
// it may not have them, and no SmallDisk can be made.
bool own_mounts();

// Mounts a disk of 4 MiB over `path`, and takes it away in the end. Throws std::system_error.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  std::string path_;
};

}  // namespace distrun::soak

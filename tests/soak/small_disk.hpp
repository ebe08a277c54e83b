#pragma once
// A small disk that fills up soon: a tmpfs over a directory, if this user may mount one.
#include <string>

namespace distrun::soak {

// Gives this process a private mount namespace, so that no mount outlives it. Call it once, before any thread starts.
// Returns false if that is not permitted; then no SmallDisk can be created.
bool own_mounts();

// Mounts a disk of 4 MiB over `path`; the destructor unmounts it. Throws std::system_error.
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

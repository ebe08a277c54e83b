#pragma once
// The coordinator's end of creating mounts for ranks (plugin/rank/mount_space.hpp). Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/common/io/task.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::launch {

// The kernel keeps the mounts while this lives and while processes are in them.
class LocalMountSpace final : public MountSpace {
 public:
  // `users` is empty if ranks keep their user namespace.
  LocalMountSpace(base::Fd mounts, base::Fd users) : mounts_(std::move(mounts)), users_(std::move(users)) {}
  wire::MountSpace name() const override;

 private:
  base::Fd mounts_;
  base::Fd users_;
};

// Throws Error: Failed with what the kernel has denied, or Timeout.
io::Task<std::shared_ptr<MountSpace>> make_mount_space(io::Loop& loop, std::string rank_program,
                                                       std::vector<std::string> environment, std::vector<Mount> mounts,
                                                       base::Nanoseconds bound);

}  // namespace distrun::launch

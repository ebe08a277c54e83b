#pragma once
// The private /tmp and /dev/shm of each lane of the run (attempt/private_tmp.hpp), on a node. The worlds of a lane use
// it one after the other, as long as nothing is left there. Lives on: the node's loop.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/attempt/private_tmp.hpp>

namespace distrun::nodes {

class LaneTmps {
 public:
  // Serves ranks of these plugins. Ranks also see the directory that this process is in, as that in which the run was
  // started. `node` must outlive this.
  LaneTmps(launch::Node& node, proc::RunPlaces places, std::vector<std::string> plugins, bool keep);

  // Finds out whether the kernel allows it. Throws Error with the reason if not.
  io::Task<void> require() { return tmps_.require(); }
  // Returns that of a lane if nothing is left there, else null.
  std::shared_ptr<const runner::PrivateTmp> find(int lane) const;
  // Creates one; `program` also stays visible, if it is not empty. Throws as require().
  io::Task<std::unique_ptr<runner::PrivateTmp>> make(std::string program) { return tmps_.make(std::move(program)); }
  // It is that of the lane from now on.
  void use(int lane, std::shared_ptr<const runner::PrivateTmp> tmp) { lanes_[lane] = std::move(tmp); }

 private:
  runner::PrivateTmps tmps_;
  std::map<int, std::shared_ptr<const runner::PrivateTmp>> lanes_;
};

}  // namespace distrun::nodes

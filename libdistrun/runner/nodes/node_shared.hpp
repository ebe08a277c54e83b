#pragma once
// The settings and services that all worlds of a node share. Lives on: the node's loop.
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/bounds.hpp>
#include <distrun/runner/attempt/cpu_binding.hpp>
#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/messages.hpp>

namespace distrun::nodes {

// Must outlive the worlds.
struct NodeShared {
  io::Loop& loop;
  launch::Node& node;
  runner::NameWatch& names;
  runner::WorkDirPool& dirs;
  runner::Graces graces;
  Welcome run;
  std::vector<runner::LaneCpus> lanes;           // the share of this host's CPUs of each lane of the run
  std::string address;                           // of this host, as other hosts reach it
  int cpus = 1;                                  // that the ranks here may use
  std::vector<std::string> host_variables;       // of programs, which override the coordinator's
  std::function<void(wire::Bytes packed)> send;  // to the coordinator; never throws

  // Returns what the ranks of a world in that lane may be bound to; -1: no lane.
  runner::LaneCpus cpus_of(int lane) const {
    return lane < 0 ? runner::LaneCpus() : lanes.at(static_cast<std::size_t>(lane));
  }
};

}  // namespace distrun::nodes

#pragma once
// The events of a world of which a test does not want to know.
#include <string>

#include <distrun/runner/launch/node.hpp>

namespace distrun::nodes {

class NoEvents final : public launch::WorldEvents {
 public:
  void on_rank_started(int, int) override {}
  void on_frame(int, const wire::Frame&) override {}
  void on_connection_lost(int, const std::string&) override {}
  void on_rank_ended(int, proc::ExitStatus, int) override {}
  void on_spawn_failed(const std::string&) override {}
};

}  // namespace distrun::nodes

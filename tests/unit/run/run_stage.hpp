#pragma once
// A whole run of one plugin, "ring.so"; the test plays its ranks.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/run/run.hpp>

#include "../attempt/stage.hpp"

namespace distrun::runner {

using Names = std::vector<std::string>;

struct RunStage {
  RunStage() : node(loop) {
    places.run_id = "run0run0run0";
    places.temp_dir = scratch.directory("tmp");
    places.start_dir = scratch.directory("start");
    settings.plugins = {"ring.so"};
  }
  // Adds a test with two ranks.
  wire::TestInfo& add(const std::string& suite, const std::string& name, const std::string& plugin = "ring.so") {
    wire::TestInfo info;
    info.suite = suite;
    info.name = name;
    info.world_size = 2;
    return node.tables[plugin].tests.emplace_back(std::move(info));
  }
  void make() { run.emplace(loop, node, told, places, settings); }
  // Runs from start to end.
  const RunRecord& play() {
    make();
    testing::run_task(loop, run->run());
    return run->record();
  }
  Names verdicts() const {
    Names names;
    for (const TestRecord& test : run->record().tests) names.emplace_back(name_of(test.verdict));
    return names;
  }

  testing::Scratch scratch;
  io::Loop loop;
  fake::Node node;
  Told told;
  proc::RunPlaces places;
  Settings settings;
  std::optional<Run> run;
};

}  // namespace distrun::runner

#pragma once
// A run with persistent ranks that follow their orders.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run_stage.hpp"

namespace distrun::runner {

// A run of tests with two ranks each, which follow their orders: report their result, and exit unless they may stay.
struct StayShow : RunStage {
  explicit StayShow(const Names& tests, Isolation isolation = Isolation::Pool) {
    settings.isolation = isolation;
    node.tables["ring.so"].reuse = wire::Reuse::Together;
    for (const std::string& name : tests) add("Ring", name);
    node.script = [this](fake::World& world) {
      world.answer = [this](fake::World& from, int rank, const wire::Frame& frame) { answer(from, rank, frame); };
      world.start_and_greet_all();
    };
  }
  void answer(fake::World& world, int rank, const wire::Frame& frame) {
    if (frame.is(wire::ControlFrame::Dismiss) && !stuck) {
      dismissed.push_back(rank);
      if (!leftover.process.empty()) world.left = {leftover};
      dies_of == 0 ? world.end(rank) : world.die(rank, dies_of);
    }
    if (!frame.is(wire::ControlFrame::Run)) return;
    const auto order = wire::decode<wire::RunOrder>(wire::view_of(frame.payload));
    orders.push_back(order);
    if (acts.contains(order.test_id)) return acts.at(order.test_id)(world, rank);
    world.done(rank);
    if (!order.stay && !order.threads) world.end(rank);  // threads end together when dismissed
  }

  std::map<std::string, std::function<void(fake::World&, int)>> acts;  // instead of passing
  std::vector<wire::RunOrder> orders;
  std::vector<int> dismissed;
  bool stuck = false;         // no rank exits when dismissed
  int dies_of = 0;            // a signal that kills dismissed ranks
  launch::Leftover leftover;  // left by dismissed ranks, until ended
};

}  // namespace distrun::runner

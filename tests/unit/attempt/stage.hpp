#pragma once
// An attempt with everything it needs; the test plays its ranks. Graces and bounds are short and real: tests check that
// nothing happens too early, and wait for what must happen.
#include <memory>
#include <optional>
#include <string>

#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/test_resources.hpp>

#include "../../support/scratch.hpp"
#include "../support/loop.hpp"
#include "fake_node.hpp"

namespace distrun::runner {

// Records a run's events, one line each: "rank end 2 failed".
class Told final : public EventSink {
 public:
  std::vector<std::string> lines;
  int count(const std::string& start) const {
    int n = 0;
    for (const std::string& line : lines) n += line.starts_with(start) ? 1 : 0;
    return n;
  }

  void on_run_start(const RunRecord&, int tests) override { add("run start " + std::to_string(tests)); }
  void on_problem(const Problem& problem) override { add("problem " + problem.phase + " " + problem.text); }
  void on_notice(const std::string& text) override { add("notice " + text); }
  void on_test_start(const TestStart& start) override { add("test start " + start.id); }
  void on_attempt_start(const AttemptStart& start) override { add("attempt start " + std::to_string(start.n)); }
  void on_rank_start(const std::string&, int, const RankRecord& rank) override {
    add("rank start " + std::to_string(rank.rank));
  }
  void on_rank_phase(const std::string&, int, int rank, wire::Phase phase) override {
    add("rank phase " + std::to_string(rank) + " " + wire::name_of(phase));
  }
  void on_rank_error(const std::string&, int, int rank, const RankError& error) override {
    add("rank error " + std::to_string(rank) + " " + error.text);
  }
  void on_snapshot(const std::string&, int, const Snapshot& snapshot) override {
    add(std::string("look ") + name_of(snapshot.kind));
  }
  void on_rank_end(const std::string&, int, const RankRecord& rank) override {
    add("rank end " + std::to_string(rank.rank) + " " + name_of(rank.outcome.kind));
  }
  void on_attempt_end(const std::string&, const AttemptRecord& a) override {
    add(std::string("attempt end ") + name_of(a.verdict));
  }
  void on_test_end(const TestRecord& test) override { add(std::string("test end ") + name_of(test.verdict)); }
  void on_run_end(const RunRecord&) override { add("run end"); }

 private:
  void add(std::string line) { lines.push_back(std::move(line)); }
};

inline Graces short_graces() {
  using std::chrono::milliseconds;
  return {.evidence = milliseconds(100),
          .timeout_evidence = milliseconds(40),
          .peers = milliseconds(40),
          .terminate = milliseconds(40),
          .kill = milliseconds(20),
          .exit = milliseconds(60),
          .connection = milliseconds(40)};
}

class Stage {
 public:
  explicit Stage(int world_size = 3) : node(loop) {
    places.run_id = "stage0run0id";
    places.temp_dir = scratch.directory("tmp");
    places.start_dir = scratch.directory("start");
    names.emplace(places);
    dirs.emplace(places.run_dir(), settings.keep_work_dir);
    test.info.suite = "Ring";
    test.info.name = "pass";
    test.id = "Ring.pass";
    test.plugin = "ring.so";
    test.variant.world_size = world_size;
    test.variant.isolation = Isolation::Process;
    settings.timeout = std::chrono::seconds(100);
  }

  // Runs the attempt up to the start of its ranks, which the test plays.
  fake::World& begin() {
    attempt.emplace(*context(), test, 1, AttemptKind::First);
    boost::asio::co_spawn(loop.context(), attempt->run(), [this](std::exception_ptr error, AttemptRecord made) {
      if (error) std::rethrow_exception(error);
      record = std::move(made);
    });
    testing::run_ready(loop);
    return *node.world;
  }
  // Runs the attempt to its end.
  AttemptRecord& finish() {
    if (!testing::run_until(loop, [&] { return record.has_value(); })) throw std::runtime_error("it does not end");
    return *record;
  }
  template <class Done>
  bool until(Done done) {
    return testing::run_until(loop, done);
  }
  bool is_over() {
    testing::run_ready(loop);
    return record.has_value();
  }

  testing::Scratch scratch;
  io::Loop loop;
  fake::Node node;
  Told told;
  proc::RunPlaces places;
  std::optional<NameWatch> names;
  std::optional<WorkDirPool> dirs;
  Settings settings;
  PlannedTest test;
  Graces graces = short_graces();
  std::optional<AttemptRecord> record;
  std::unique_ptr<RunContext> run_context;
  std::optional<Attempt> attempt;  // uses the context until destroyed

 private:
  const RunContext* context() {
    run_context =
        std::make_unique<RunContext>(RunContext{loop, node, told, *names, settings, *dirs, places.run_id, graces});
    return run_context.get();
  }
};

}  // namespace distrun::runner

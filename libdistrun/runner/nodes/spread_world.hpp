#pragma once
// The ranks of one attempt, or of several if they are kept, on the nodes of a run: turns what is asked of a world into
// frames for its nodes. What it says of the ranks without waiting is what their nodes told last (spread_ranks.hpp).
// Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/spread_ranks.hpp>
#include <distrun/runner/nodes/world_store.hpp>

namespace distrun::nodes {

class SpreadWorld final : public launch::World {
 public:
  using MakeStore = std::function<std::shared_ptr<const WorldStore>()>;

  // `make_store` creates a store for the ranks of a test, and may throw Error; null: they need none. The nodes must
  // outlive this.
  SpreadWorld(io::Loop& loop, launch::WorldEvents& events, std::uint32_t number, std::vector<SpreadRanks::Part> parts,
              MakeStore make_store);
  ~SpreadWorld() override;

  // Orders the nodes to start the ranks. A failure is reported soon, as Node::spawn() says.
  void begin(const launch::WorldSpec& spec);
  // Reports soon that ranks will not start.
  void fail(std::string why);

  void send(int rank, wire::Bytes packed) override;
  void signal(int rank, int signal) override { tell_signal(rank, signal, false); }
  void signal_process(int rank, int signal) override { tell_signal(rank, signal, true); }
  std::optional<board::Shown> shown(int rank) const override { return ranks_->at(rank).shown; }
  std::uint64_t epoch(int rank) const override { return ranks_->at(rank).shown ? ranks_->at(rank).shown->epoch : 0; }
  void collect_stacks(const launch::StackOrder& order, launch::OnStacks on_stacks) override;
  std::optional<board::Dump> crash(int rank) const override { return ranks_->at(rank).crash; }
  void name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                   launch::OnStacks on_stacks) override;
  base::Nanoseconds cpu_wait(int rank) const override { return ranks_->at(rank).cpu_wait; }
  base::Nanoseconds cpu_time(int rank) const override { return ranks_->at(rank).cpu_time; }
  launch::ProcessState process_state(int rank) const override { return ranks_->at(rank).process; }
  proc::Captured standard_output(int rank) const override { return ranks_->captured(rank, launch::Stream::Out); }
  proc::Captured standard_error(int rank) const override { return ranks_->captured(rank, launch::Stream::Err); }
  void finish_output() override {}
  void hold_output(bool hold) override;
  void forget_output() override;
  const launch::Spread* spread() const override { return &ranks_->spread(); }
  std::optional<launch::Moment> seen_at(int rank) const override { return ranks_->at(rank).seen_at; }
  void inspect(std::function<void(bool is_clean)> on_inspected) override;
  void keep(bool holds) override;
  void read_traces(std::function<void(std::vector<trace::RankTrace>)> on_traces) override;
  void renew(const launch::WorldSpec& spec) override;
  void sweep(bool patient, std::function<void(std::vector<launch::LeftBehind>)> on_swept) override;

 private:
  template <class Message>
  void tell_all(wire::NodeFrame kind, const Message& message);
  void tell_signal(int rank, int signal, bool process_only);
  void ask(wire::NodeFrame order, bool yes, SpreadRanks::OnAnswers on_answers);
  // Returns why there is no new store for the ranks; empty: there is, or none is needed.
  std::string renew_store();

  io::Loop& loop_;
  launch::WorldEvents& events_;
  const std::uint32_t number_;
  const MakeStore make_store_;
  const std::shared_ptr<SpreadRanks> ranks_;
  std::shared_ptr<const WorldStore> store_;              // of the current test
  std::vector<std::shared_ptr<const WorldStore>> held_;  // of earlier ones, which the ranks go on using
};

}  // namespace distrun::nodes

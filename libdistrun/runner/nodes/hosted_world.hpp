#pragma once
// The ranks of a world that run on this node: turns their events into frames for the coordinator, and the coordinator's
// frames into orders. hosted_test.hpp has what they need for each test. Lives on: the node's loop.
//
//   begin -> a test: orders of ranks; when all wait for another order: inspected
//              -> keep -> between tests -> renew -> a test
//              -> the ranks are dismissed or killed, and end -> swept
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/attempt/sweep.hpp>
#include <distrun/runner/nodes/hosted_test.hpp>
#include <distrun/runner/nodes/rank_news.hpp>

namespace distrun::nodes {

class HostedWorld final : public launch::WorldEvents {
 public:
  // Throws Error if the work directories cannot be created.
  HostedWorld(NodeShared& shared, SpawnRequest request);
  ~HostedWorld() override;

  // Starts the ranks.
  void begin();
  // Passes a packed control frame on. Throws Error{InvalidArgument} for any other bytes.
  void send_to_rank(int rank, const std::string& bytes);
  void signal(const SignalOrder& order);
  void collect(const CollectRequest& request);
  void name_stacks(NameRequest request);
  void hold_output(bool hold) { world_->hold_output(hold); }
  void forget_output() { world_->forget_output(); }
  // Looks whether ranks that wait for another order have left anything.
  void inspect();
  // The ranks are kept, and the test is over. `holds`: they go on using its directories and store.
  void keep(bool holds);
  // Orders for another test follow. Throws Error if the work directories cannot be created.
  void renew(TestOfWorld test);
  void sweep(bool patient);

 private:
  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override;
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override;
  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;

  bool has(int rank) const noexcept;
  bool has_stray_child() const;
  std::string complete_order(const wire::Frame& frame);
  Ports find_ports() const;
  void tell_output();
  std::int64_t now_ns() const { return shared_.loop.clock().now().time_since_epoch().count(); }
  void finish(std::vector<runner::Leak> leaks);
  template <class Message>
  void tell(wire::NodeFrame kind, const Message& message) const;

  NodeShared& shared_;
  const SpawnRequest request_;
  std::unique_ptr<HostedTest> test_;               // null: the ranks are between two tests
  std::vector<std::shared_ptr<const void>> held_;  // of an earlier test, which the ranks go on using
  std::shared_ptr<launch::World> world_;
  std::optional<runner::TestResources> between_;  // of a sweep between two tests
  std::unique_ptr<runner::Sweep> sweep_;
  std::map<int, pid_t> pids_;  // by rank, of those that are alive
  std::string suite_dir_;      // of a suite, if its host runs here: removed with this
  std::unique_ptr<RankNews> news_;
  std::shared_ptr<const void> guard_ = std::make_shared<int>(0);
};

}  // namespace distrun::nodes

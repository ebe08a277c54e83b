#pragma once
// The ranks of a world that run on this node: turns their events into frames for the coordinator, and the coordinator's
// frames into orders. hosted_test.hpp has what they need for each test. Lives on: the node's loop.
//
// The ranks of a program start in two steps: prepare() checks that this host can run it, and begin() follows when all
// hosts can, with the port of rank 0's host.
//
//   prepare -> a test: orders of ranks; when all wait for another order: inspected
//              -> keep -> between tests -> renew -> a test
//              -> the ranks are dismissed or killed, and end -> swept
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/attempt/sweep.hpp>
#include <distrun/runner/nodes/hosted_test.hpp>
#include <distrun/runner/nodes/input_window.hpp>
#include <distrun/runner/nodes/output_window.hpp>
#include <distrun/runner/nodes/rank_news.hpp>

namespace distrun::nodes {

class HostedWorld final : public launch::WorldEvents {
 public:
  // `tmp`: the private /tmp of the ranks; null: they have none. Throws Error if the work directories cannot be created.
  HostedWorld(NodeShared& shared, SpawnRequest request, std::shared_ptr<const runner::PrivateTmp> tmp);
  ~HostedWorld() override;

  // Starts the ranks of a plugin, or checks that a program can be started, and answers. Throws Error{Failed} if it
  // cannot.
  void prepare();
  // Starts the ranks of a program. Throws Error{InvalidArgument} if they have begun.
  void begin(const BeginOrder& order);
  // The following are for ranks that have begun.
  bool has_begun() const noexcept { return world_ != nullptr; }
  // Passes a packed control frame on. Throws Error{InvalidArgument} for any other bytes.
  void send_to_rank(int rank, const std::string& bytes);
  void signal(const SignalOrder& order);
  void collect(const CollectRequest& request);
  void name_stacks(NameRequest request);
  void read_trace(const TraceRequest& request);
  void forget_output() { world_->forget_output(); }
  // Looks whether ranks that wait for another order have left anything.
  void inspect();
  // The ranks are kept, and the test is over. `holds`: they go on using its directories and store.
  void keep(bool holds);
  // Orders for another test follow. Throws Error if the work directories cannot be created.
  void renew(TestOfWorld test);
  // Throws Error{InvalidArgument} for more than was sent.
  void confirm_output(std::uint64_t bytes) { output_.confirm(bytes); }
  // Throws Error{InvalidArgument} if no rank here reads it, and as InputPipe::add().
  void add_input(std::string_view bytes);
  void sweep(bool patient);
  // Returns the processes of ranks that may be paused (launch/rank_pauser.hpp).
  std::vector<pid_t> pausable_ranks() const;

 private:
  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override;
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override;
  void on_program(int rank) override;
  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;

  runner::TestResources* resources() noexcept { return test_ ? test_->resources() : nullptr; }
  std::string complete_order(const wire::Frame& frame);
  void tell_output();
  void start();
  void finish(std::vector<runner::Leak> leaks);
  template <class Message>
  void tell(wire::NodeFrame kind, const Message& message) const;

  NodeShared& shared_;
  const SpawnRequest request_;
  const std::shared_ptr<const runner::PrivateTmp> tmp_;
  std::unique_ptr<HostedTest> test_;               // null: the ranks are between two tests
  std::vector<std::shared_ptr<const void>> held_;  // of an earlier test, which the ranks go on using
  launch::ProgramSpec program_;                    // if the ranks run one
  std::shared_ptr<launch::World> world_;           // null: the program has not begun
  OutputSender output_;
  std::unique_ptr<InputPipe> input_;              // of the rank that reads it, if that runs here
  std::optional<runner::TestResources> between_;  // of a sweep between two tests
  std::unique_ptr<runner::Sweep> sweep_;
  std::map<int, pid_t> pids_;  // by rank, of those that are alive
  base::TimePoint test_began_;
  std::string suite_dir_;            // of a suite, if its host runs here: removed with this
  std::vector<proc::NewName> made_;  // names that its set-up has left for the tests
  std::unique_ptr<RankNews> news_;
  std::shared_ptr<const void> guard_ = std::make_shared<int>(0);
};

}  // namespace distrun::nodes

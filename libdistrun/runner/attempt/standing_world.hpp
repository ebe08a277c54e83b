#pragma once
// Persistent ranks: those that are kept from one test to the next, with the isolations "pool" and "threads". Between
// tests they wait, and no attempt is in charge of them. Lives on: the coordinator's loop.
//
//   none --lend--> lent --take_back, whole--> idle --lend, the same kind--> lent
//    ^              `--take_back, broken--> none
//    `---------------------------------------- close --`          (a rank dies while idle: broken, must be closed)
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/launch/node.hpp>

namespace distrun::runner {

class StandingWorld final : public launch::WorldEvents {
 public:
  // Output that ranks write while idle is dropped with their earlier output, or kept for the next test.
  enum class Output { Forgotten, Kept };
  StandingWorld(io::Loop& loop, launch::Node& node, Output output = Output::Forgotten)
      : loop_(loop), node_(node), output_(output) {}
  // `tell` is called when a rank dies or is lost while idle, but not during close().
  void on_broken(std::function<void()> tell) { on_broken_ = std::move(tell); }

  // Returns whether the idle ranks fit this test: same plugin, suite, isolation and world size, and all alive.
  bool serves(const launch::WorldSpec& spec, const std::string& suite) const;
  // Returns ranks for a test: the idle ones if serves(), else new ones. Their events go to `to` until take_back().
  std::shared_ptr<launch::World> lend(const launch::WorldSpec& spec, const std::string& suite, launch::WorldEvents& to);
  // Keeps what the ranks may go on using for as long as they live. Call while they are lent.
  void hold(std::vector<std::shared_ptr<const void>> used) { held_ = std::move(used); }
  // The test is over. `whole`: all ranks are alive and wait for the next.
  void take_back(bool whole);
  const std::string& plugin() const noexcept { return spec_.plugin; }
  const std::string& suite() const noexcept { return suite_; }
  // The pids of the lent ranks.
  const std::vector<int>& pids() const noexcept { return pids_; }
  // Returns what happened to a rank or its host while idle: "rank 1 was killed by signal 11 (SIGSEGV)"; or empty.
  const std::string& broken() const noexcept { return broken_; }
  // How the rank that died last ended; nothing if none has died.
  const std::optional<proc::ExitStatus>& last_death() const noexcept { return last_status_; }
  // Null without ranks.
  launch::World* world() const noexcept { return world_.get(); }
  // Stops the idle ranks and what they have started, except for ranks that have stopped themselves, until resume() or
  // until a test needs them. Does nothing while they are lent: their attempt stops them.
  void pause();
  void resume();
  // Ends the idle ranks and what they have started. With `patience`, they are dismissed first and have this long to end
  // normally; then, or without it, they are killed. Completes when they are gone, or a second later. Returns what went
  // wrong after they were dismissed: "rank 1 was killed by signal 11 (SIGSEGV)", "they left the process 4711 (sleep
  // 100) behind"; or empty.
  io::Task<std::string> close(base::Nanoseconds patience = base::Nanoseconds::zero());

 private:
  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override;
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override;
  void on_host_lost(const std::vector<int>& ranks, const std::string& why) override;
  void on_output(int rank, launch::Stream stream, std::string_view bytes) override {
    if (lent_to_ != nullptr) lent_to_->on_output(rank, stream, bytes);
  }
  void forget();
  std::string name_of(int rank) const;
  void break_with(std::string what);
  void dismiss();
  io::Task<void> until_closed(base::Nanoseconds patience);
  io::Task<void> look_for_leftovers();
  io::Task<void> look_elsewhere();

  io::Loop& loop_;
  launch::Node& node_;
  Output output_;
  std::function<void()> on_broken_ = [] {};
  launch::WorldSpec spec_;
  std::string suite_;
  std::shared_ptr<launch::World> world_;
  std::vector<std::shared_ptr<const void>> held_;
  launch::WorldEvents* lent_to_ = nullptr;
  std::vector<int> pids_;
  std::set<int> alive_;
  std::set<int> stopped_;  // by pause()
  std::string broken_;
  std::string last_death_;
  std::optional<proc::ExitStatus> last_status_;
  std::unique_ptr<io::OneShot<bool>> closed_;  // set while close() waits
  bool killed_ = false;                        // by close()
  std::string bad_end_;                        // of a dismissed rank
};

}  // namespace distrun::runner

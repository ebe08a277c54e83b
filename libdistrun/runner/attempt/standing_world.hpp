#pragma once
// Ranks that stay from one test to the next, with the isolations "pool" and "threads". Between two tests nobody leads
// them, and they wait. Lives on: the coordinator's loop.
//
//   none --lend--> lent --take_back, whole--> idle --lend, the same kind--> lent
//    ^              `--take_back, broken--> none
//    `---------------------------------------- close --`          (one dies while idle: broken, no use but to close)
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
  // What the ranks write while they are idle is forgotten with what they wrote before, or kept for who comes next.
  enum class Output { Forgotten, Kept };
  StandingWorld(io::Loop& loop, launch::Node& node, Output output = Output::Forgotten)
      : loop_(loop), node_(node), output_(output) {}
  // Called when one dies or is lost while they are idle; not by close().
  void on_broken(std::function<void()> tell) { on_broken_ = std::move(tell); }

  // Whether the ranks that wait serve this test: of the same plugin and suite, as many of them, and all alive.
  bool serves(const launch::WorldSpec& spec, const std::string& suite) const;
  // Ranks for a test, whose events go to `to` until take_back(): those that wait, if serves(), else new ones.
  std::shared_ptr<launch::World> lend(const launch::WorldSpec& spec, const std::string& suite, launch::WorldEvents& to);
  // What the ranks may go on using: it lives as long as they do. They are lent.
  void hold(std::vector<std::shared_ptr<const void>> used) { held_ = std::move(used); }
  // The test is over. `whole`: all ranks are alive and wait for another.
  void take_back(bool whole);
  const std::string& plugin() const noexcept { return spec_.plugin; }
  const std::string& suite() const noexcept { return suite_; }
  // Of the ranks that are lent.
  const std::vector<int>& pids() const noexcept { return pids_; }
  // What has happened to ranks while they were idle: "rank 1 was killed by signal 11 (SIGSEGV)"; or empty.
  const std::string& broken() const noexcept { return broken_; }
  // The last rank that has died, and how; nothing if none has.
  const std::optional<proc::ExitStatus>& last_death() const noexcept { return last_status_; }
  // Null if there is none.
  launch::World* world() const noexcept { return world_.get(); }
  // Stops the ranks that wait and what they have started, but for those that have stopped themselves, until resume()
  // or until a test needs them. Does nothing while they are lent: who leads them stops them.
  void pause();
  void resume();
  // Ends the ranks that wait, and what they have started. With `patience` they are dismissed first and may end as ranks
  // do for so long; with none, and then, they are killed. Completes when they are gone, or a second after that. Says
  // what went wrong when they were dismissed: "rank 1 was killed by signal 11 (SIGSEGV)", "they left the process 4711
  // (sleep 100) behind"; or empty.
  io::Task<std::string> close(base::Nanoseconds patience = base::Nanoseconds::zero());

 private:
  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override;
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override;
  void forget();
  void break_with(int rank, std::string how);
  void dismiss();
  io::Task<void> until_closed(base::Nanoseconds patience);
  io::Task<void> look_for_leftovers();

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
  std::unique_ptr<io::OneShot<bool>> closed_;  // while close() waits
  bool killed_ = false;                        // by close()
  std::string bad_end_;                        // of a rank that was dismissed
};

}  // namespace distrun::runner

#pragma once
// Detects that no call is running or in flight between any workers, and that none will be made: Mattern's four-counter
// method. The leader, the worker with the smallest name, asks all members in rounds. Each answers once it is quiet,
// with the numbers of calls that it has sent to others and received from others since the session began. If the sums of
// both are equal, and the same as in the round before, nothing has happened in between, and all calls have ended.
//
//   leader  probing -> done: notifies all, and waits for their confirmations
//   member  answers probes until it is notified
//
// Messages are recorded from the start of the session, since other workers may enter shutdown earlier.
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>

namespace distrun::rpc {

class Termination {
 public:
  // Blocks until all calls have ended. Throws Error{Timeout} with the missing workers, Error{Disconnected},
  // base::PeerFailed.
  void run(Calls& calls, base::TimePoint begin, base::TimePoint deadline, base::Location site);

  // Called by the session on handler threads.
  void receive(Calls& calls, const WorkerInfo& from, Control message);
  void lose(const WorkerInfo& peer, const Error& why);
  // Fails the shutdown of this worker: there is no memory for what has happened. Takes none.
  void fail() noexcept;
  // Returns why the first lost worker was lost; nullopt: none is lost.
  std::optional<Error> first_lost();

 private:
  struct Sums {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    friend bool operator==(const Sums&, const Sums&) = default;
  };
  struct Running;  // the arguments of run()
  class Shown;

  static board::WaitInfo wait_info(const Running& run, const std::set<WorkerId>& awaited);

  void lead(const Running& run);
  void probe_until_done(const Running& run);
  void rest_between_rounds(const Running& run, base::Nanoseconds rest);
  Sums ask_all(const Running& run, std::uint64_t round);
  void tell_done(const Running& run);
  void follow(const Running& run, const WorkerInfo& leader);
  void answer(const Running& run, const WorkerInfo& leader, std::uint64_t round);

  // Blocks until this worker is quiet; returns its counts.
  CallCounts wait_quiet(const Running& run, const WorkerInfo* leader);
  template <class Ready>
  void wait(const Running& run, const std::set<WorkerId>& awaited, Ready ready);
  void check(const Running& run, const std::set<WorkerId>& awaited);  // throws if it can no longer succeed
  [[noreturn]] void throw_timeout(const Running& run, const std::set<WorkerId>& awaited);
  std::string explain(const Running& run, const std::set<WorkerId>& awaited);

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_running_ = false;  // the rank is in its shutdown
  std::map<WorkerId, Error> lost_;
  std::optional<Error> first_lost_;
  std::uint64_t probed_ = 0;  // on members: the last round asked for
  bool is_done_ = false;
  std::optional<Control> aborted_;
  std::map<WorkerId, Control> counts_;  // on the leader: the last answer of each member
  std::set<WorkerId> acked_;
  std::map<WorkerId, Control> statuses_;
};

}  // namespace distrun::rpc

#pragma once
// Finds that no call runs, or is on its way, between any workers, and that none will be made: Mattern's four counters.
// The leader, the worker with the smallest name, asks all in rounds. Each answers when it is quiet, with how many calls
// it has sent to others and received from others since the session began. If as many were received as sent, and the
// round before has come to the same numbers, nothing has happened in between, and that is the end.
//
//   leader  probing -> done: tells all, and waits until they have heard it
//   member  answers probes until it is told
//
// What comes for it is noted from the session's start: others may be quicker.
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
  // Blocks until it is found. Throws Error{Timeout} with who is missing, Error{Disconnected} if a worker is lost,
  // base::PeerFailed.
  void run(Calls& calls, base::TimePoint begin, base::TimePoint deadline, base::Location site);

  // By the session, on handlers' threads.
  void receive(Calls& calls, const WorkerInfo& from, Control message);
  void lose(const WorkerInfo& peer, const Error& why);
  // Why the first worker that was lost is; nothing: none is.
  std::optional<Error> first_lost();

 private:
  struct Sums {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    friend bool operator==(const Sums&, const Sums&) = default;
  };
  struct Running;  // what run() is called with
  class Shown;

  static board::WaitInfo wait_info(const Running& run, const std::set<WorkerId>& awaited);

  void lead(const Running& run);
  void probe_until_done(const Running& run);
  void rest_between_rounds(const Running& run, base::Nanoseconds rest);
  Sums ask_all(const Running& run, std::uint64_t round);
  void tell_done(const Running& run);
  void follow(const Running& run, const WorkerInfo& leader);
  void answer(const Running& run, const WorkerInfo& leader, std::uint64_t round);

  // Until it is quiet; its counts then.
  CallCounts wait_quiet(const Running& run, const WorkerInfo* leader);
  template <class Ready>
  void wait(const Running& run, const std::set<WorkerId>& awaited, Ready ready);
  void check(const Running& run, const std::set<WorkerId>& awaited);  // throws if it can't come to an end any more
  [[noreturn]] void throw_timeout(const Running& run, const std::set<WorkerId>& awaited);
  std::string explain(const Running& run, const std::set<WorkerId>& awaited);

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_running_ = false;  // the rank is in its shutdown
  std::map<WorkerId, Error> lost_;
  std::optional<Error> first_lost_;
  std::uint64_t probed_ = 0;  // a member's: the last round that it was asked for
  bool is_done_ = false;
  std::optional<Control> aborted_;
  std::map<WorkerId, Control> counts_;  // the leader's: the last of each member
  std::set<WorkerId> acked_;
  std::map<WorkerId, Control> statuses_;
};

}  // namespace distrun::rpc

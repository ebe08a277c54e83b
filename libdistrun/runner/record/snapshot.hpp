#pragma once
// Describes a snapshot of the ranks in words.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Describes what each rank waits for according to the board, with ranks that wait alike together and those that do not
// wait first; then the merged stacks. At most 200 lines.
std::vector<evidence::Line> describe(const Snapshot& snapshot);

// Converts to the clock of the times on the board.
inline std::int64_t monotonic_ns(base::TimePoint time) {
  return std::chrono::duration_cast<Nanoseconds>(time.time_since_epoch()).count();
}

// Returns the ranks that a rank waits for, given what it shows. In a barrier or collective: the absent ranks or, if
// none is absent, those that wait there for others; for a lock: its holder, which is on the same host.
std::vector<int> awaited(const std::vector<RankView>& views, int rank, const board::ShownWait& wait,
                         const base::RankHosts& hosts = {});
// Returns "barrier \"meet\"", without ranks.
std::string name_of_wait(const board::ShownWait& wait);

// Returns whether a signal has stopped the thread.
bool is_stopped_by_signal(const wire::ThreadStack& thread) noexcept;

// An unseen error, and the ranks that show it.
struct ErrorLine {
  std::vector<int> ranks;
  std::string text;
};
std::vector<ErrorLine> error_lines(const std::vector<RankView>& views);
// Returns "ranks 0-1: unseen error: future (f.cpp:9) failed: std::runtime_error: no".
std::string describe(const ErrorLine& line, const base::RankHosts& hosts = {});

// Returns the part of a snapshot that is about one rank.
Snapshot only(int rank, Snapshot snapshot);

// One wait of ranks, and the ranks that they wait for.
struct WaitLine {
  std::vector<int> ranks;  // the ranks that wait alike
  std::string what;        // "barrier \"meet\" (ring.cpp:41)"; empty: no wait is shown
  std::vector<int> awaited;
  bool any = false;   // any one of them suffices
  std::string last;   // their last operation, if it is the same: "send \"go\" to rank 2"; or empty
  std::string there;  // for a call, the callee's activity: "rank 1 runs it for 3.1 s, and waits in ..."
  wire::Phase phase = wire::Phase::Body;
  Nanoseconds longest{};
  std::optional<Nanoseconds> left;  // until the first deadline; negative: past it; nothing: no deadline
  base::RankHosts hosts{};          // of all ranks
};
std::vector<WaitLine> wait_lines(const std::vector<RankView>& views, std::int64_t now_ns,
                                 const base::RankHosts& hosts = {});
std::string describe(const WaitLine& line);
// Returns "barrier \"meet\" (ring.cpp:41) for rank 1, 12.0 s left"; empty if no wait is shown.
std::string wait_text(const WaitLine& line);

}  // namespace distrun::runner

#pragma once
// What was seen of the ranks at one moment, in words.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// What each rank waits for according to the board, ranks that wait alike together, those that wait for nobody first;
// then the merged stacks. At most 200 lines.
std::vector<evidence::Line> describe(const Look& look);

// As the board tells times.
inline std::int64_t monotonic_ns(base::TimePoint time) {
  return std::chrono::duration_cast<Nanoseconds>(time.time_since_epoch()).count();
}

// The ranks for which a rank waits in what it shows. Of a barrier or collective that are those that are not in it, or
// if all are, those that wait there for others; of a lock the one that holds it.
std::vector<int> awaited(const std::vector<RankView>& views, int rank, const board::ShownWait& wait);
// "barrier \"meet\"", without ranks.
std::string name_of_wait(const board::ShownWait& wait);

// Whether a signal keeps the thread from running.
bool is_stopped_by_signal(const wire::ThreadStack& thread) noexcept;

// An error that nobody has looked at, and the ranks that show it.
struct ErrorLine {
  std::vector<int> ranks;
  std::string text;
};
std::vector<ErrorLine> error_lines(const std::vector<RankView>& views);
// "ranks 0-1: unseen error: future (f.cpp:9) failed: std::runtime_error: no".
std::string describe(const ErrorLine& line);

// What a look tells of one rank.
Look only(int rank, Look look);

// One wait of a rank, and the ranks that it waits for.
struct WaitLine {
  std::vector<int> ranks;  // that wait alike
  std::string what;        // "barrier \"meet\" (ring.cpp:41)"; empty: nothing that is shown
  std::vector<int> awaited;
  bool any = false;   // any of them is enough
  std::string last;   // what they did last, if all the same: "send \"go\" to rank 2"; or empty
  std::string there;  // of a call, what its callee does for it: "rank 1 runs it for 3.1 s, and waits in ..."
  wire::Phase phase = wire::Phase::Body;
  Nanoseconds longest{};
  std::optional<Nanoseconds> left;  // until the first deadline; below 0: past it; nothing: there is none
};
std::vector<WaitLine> wait_lines(const std::vector<RankView>& views, std::int64_t now_ns);
std::string describe(const WaitLine& line);
// "barrier \"meet\" (ring.cpp:41) for rank 1, 12.0 s left"; empty if nothing is shown.
std::string wait_text(const WaitLine& line);

}  // namespace distrun::runner

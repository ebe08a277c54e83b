#pragma once
// Processes of the cells of a table. Each cell has a conductor, a process without threads that forks the members,
// releases them at the right moments, and reports their lines. Cells mostly wait, so several run concurrently.
//
// A member reports a line of text and is released by a byte. Every wait has a bound, and a member that is late is
// killed, so a cell always ends.
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>

#include "support/sandbox.hpp"

namespace distrun::rpc::testing {

// The limit for expected events.
inline const base::Nanoseconds kPatience = distrun::testing::scaled(std::chrono::seconds(30));
base::TimePoint in(base::Nanoseconds duration);

// A member's end of its connection to the conductor.
class Post {
 public:
  Post(int told, int orders, int own) : told_(told), orders_(orders), own_(own) {}
  void tell(std::string line) const;
  // Waits for the conductor and returns its order. Ends the process on timeout.
  char wait() const;
  // Reports a line and waits.
  void meet(const std::string& line) const { tell(line), wait(); }
  // Sends an order to this member itself, received by wait(); async-signal-safe.
  void order_itself(char order) const noexcept;

 private:
  int told_, orders_, own_;
};

class Member {
 public:
  explicit Member(const std::function<void(const Post&)>& body);
  ~Member();  // kills it
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  pid_t pid() const noexcept { return pid_; }
  // Returns the next line; nothing: it has ended, or was silent for too long.
  std::optional<std::string> line(base::Nanoseconds patience = kPatience);
  // Reads lines up to one that begins with `mark`; adds those before to `told`, with `prefix`. Returns false if there
  // is no such line.
  bool lines_up_to(const std::string& mark, const std::string& prefix, std::vector<std::string>& told,
                   base::Nanoseconds patience = kPatience);
  void go_on(char order = 'g') const;
  // Waits until it has ended or stopped; returns false if it does neither.
  bool wait_struck() const;
  // Returns "killed by signal 9", "exited with 0"; empty: still running.
  std::string end() const;

 private:
  pid_t pid_ = -1;
  base::Fd told_, orders_;
  std::string read_;
};

using Lines = std::vector<std::string>;
// The members of a cell, one for each rank. One of them is struck; its lines are dropped.
class Company {
 public:
  // Exceptions from the bodies of the others are reported.
  Company(int ranks, int victim, const std::function<void(int rank, const Post& post)>& body);
  // Releases all members once each has reported `point`. Returns false, and reports that, if not all arrive.
  bool meet(const std::string& point, bool with_victim = false);
  // Reads the others' lines to their ends.
  void hear_out();
  Member& victim() const noexcept { return *members_[static_cast<std::size_t>(victim_)]; }
  void tell(std::string line) { told_.push_back(std::move(line)); }
  // Returns the lines, each after its rank: "2|call|0.012|done".
  const Lines& told() const noexcept { return told_; }

 private:
  const int victim_;
  std::vector<std::unique_ptr<Member>> members_;
  Lines told_;
};

// Returns the lines of each conductor, in the order of `cells`, with `at_once` of them running concurrently.
std::vector<Lines> conduct(const std::vector<std::function<Lines()>>& cells, int at_once);

// Runs the body; returns its exception as "kind: text", or "done".
std::string what_comes_of(const std::function<void()>& body);
// The same with the seconds it took: "call|0.012|done".
std::string timed(const std::string& phase, const std::function<void()>& body);
struct Timed {
  std::string phase;
  double seconds = 0;
  std::string text;
};
Timed timed_of(const std::string& line);

}  // namespace distrun::rpc::testing

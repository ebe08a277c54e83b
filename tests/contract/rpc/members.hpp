#pragma once
// Processes of the cells of a table. Each cell has a conductor, a process without threads that forks the members, lets
// them go on at the right moments, and tells what they have told; cells wait most of the time, so some run at once.
//
// What a member tells is a line of text; it is let go on by a byte. Every wait has a bound, and whoever is late is
// killed: so a cell always ends.
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

inline const base::Nanoseconds kPatience = distrun::testing::scaled(std::chrono::seconds(30));  // what must happen
base::TimePoint in(base::Nanoseconds duration);

// A member's end of its line to the conductor.
class Post {
 public:
  Post(int told, int orders, int own) : told_(told), orders_(orders), own_(own) {}
  void tell(std::string line) const;
  // Until the conductor says so, or for too long: then the process ends. What he has said.
  char wait() const;
  // As told as it was waited for.
  void meet(const std::string& line) const { tell(line), wait(); }
  // An order of its own, which wait() gets; a handler of a signal may give one.
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
  // Its next line; nothing: it has ended, or says nothing for too long.
  std::optional<std::string> line();
  // Lines up to one that begins with `mark`; those before are added to `told`, behind `prefix`. False: it does not
  // come.
  bool lines_up_to(const std::string& mark, const std::string& prefix, std::vector<std::string>& told);
  void go_on(char order = 'g') const;
  // Until it has ended or stopped: false, it does neither.
  bool wait_struck() const;
  // "killed by signal 9", "exited with 0"; empty: it is there.
  std::string end() const;

 private:
  pid_t pid_ = -1;
  base::Fd told_, orders_;
  std::string read_;
};

using Lines = std::vector<std::string>;
// The members of a cell, one for each rank, of whom one is struck: what that one tells is nobody's.
class Company {
 public:
  // What the body of another one throws is told.
  Company(int ranks, int victim, const std::function<void(int rank, const Post& post)>& body);
  // Lets all go on when each has told that. False, and told so: not all come.
  bool meet(const std::string& point, bool with_victim = false);
  // Up to the ends of the others.
  void hear_out();
  Member& victim() const noexcept { return *members_[static_cast<std::size_t>(victim_)]; }
  void tell(std::string line) { told_.push_back(std::move(line)); }
  // "2|call|0.012|done": each behind its rank.
  const Lines& told() const noexcept { return told_; }

 private:
  const int victim_;
  std::vector<std::unique_ptr<Member>> members_;
  Lines told_;
};

// The lines of each conductor, in the order of `cells`. `at_once` of them run beside each other.
std::vector<Lines> conduct(const std::vector<std::function<Lines()>>& cells, int at_once);

// What the body has thrown, as "kind: text"; "done".
std::string what_comes_of(const std::function<void()>& body);
// "call|0.012|done": with the seconds that it took.
std::string timed(const std::string& phase, const std::function<void()>& body);
struct Timed {
  std::string phase;
  double seconds = 0;
  std::string text;
};
Timed timed_of(const std::string& line);

}  // namespace distrun::rpc::testing

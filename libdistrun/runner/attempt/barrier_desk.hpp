#pragma once
// Who is in which barrier. Pure bookkeeping: the attempt feeds it and sends what it says.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::runner {

struct Release {
  std::string barrier;
  std::vector<int> ranks;
  std::string error;  // empty: everybody came
  int because_of = -1;
};

class BarrierDesk {
 public:
  explicit BarrierDesk(int world_size);

  // The rank waits. A release if it was the last to come, or if somebody can't come any more.
  std::optional<Release> enter(int rank, const std::string& barrier);
  // The rank will enter no barrier any more. `declared` says that the test wanted that: the others go on
  // without it; else every barrier that others wait in is released with an error.
  std::vector<Release> leave(int rank, bool declared);
  // `barrier "x"`, or empty.
  std::string waiting_in(int rank) const;
  // Whether the rank has been released from the barrier that it shows under this name, which may be cut, since it last
  // entered it. A rank that cannot run goes on showing it.
  bool has_passed(int rank, std::string_view shown) const;

 private:
  std::optional<Release> check(const std::string& barrier);

  int world_size_;
  std::set<int> excused_;  // declared deaths
  std::vector<int> gone_;  // the others, in the order in which they went
  std::map<std::string, std::set<int>> waiting_;
  std::map<int, std::string> passed_;  // by rank, the barrier from which it was released last
};

}  // namespace distrun::runner

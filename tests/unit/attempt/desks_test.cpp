#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/attempt/barrier_desk.hpp>
#include <distrun/runner/attempt/receive_desk.hpp>

using namespace distrun;
using namespace distrun::runner;

namespace {

// Barriers by definition: the barrier each rank waits in, the ranks that have left, and the consequences for each
// barrier.
class Model {
 public:
  explicit Model(int world_size) : world_size_(world_size) {}

  std::vector<Release> enter(int rank, const std::string& barrier) {
    waiting_[barrier].insert(rank);
    return settle();
  }
  std::vector<Release> leave(int rank, bool declared) {
    for (auto& [barrier, ranks] : waiting_) ranks.erase(rank);
    if (declared) ++excused_;
    if (!declared && first_gone_ < 0) first_gone_ = rank;
    return settle();
  }
  bool waits(int rank) const {
    const auto holds_it = [&](const auto& entry) { return entry.second.contains(rank); };
    return std::any_of(waiting_.begin(), waiting_.end(), holds_it);
  }

 private:
  std::vector<Release> settle() {
    std::vector<Release> releases;
    for (auto& [barrier, ranks] : waiting_) {
      const bool all = static_cast<int>(ranks.size()) == world_size_ - excused_;
      if (ranks.empty() || (!all && first_gone_ < 0)) continue;
      const bool good = all && first_gone_ < 0;
      releases.push_back({barrier, {ranks.begin(), ranks.end()}, good ? "" : "error", good ? -1 : first_gone_});
      ranks.clear();
    }
    return releases;
  }

  int world_size_;
  int excused_ = 0;
  int first_gone_ = -1;
  std::map<std::string, std::set<int>> waiting_;
};

bool same(const Release& a, const Release& b) {
  return a.barrier == b.barrier && a.ranks == b.ranks && a.because_of == b.because_of &&
         a.error.empty() == b.error.empty();
}

bool same(const std::vector<Release>& a, const std::vector<Release>& b) {
  const auto alike = [](const Release& x, const Release& y) { return same(x, y); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
}

}  // namespace

TEST_CASE("a barrier opens when the last rank arrives, and can be used again") {
  BarrierDesk desk(3);
  for (int round = 0; round < 2; ++round) {
    CHECK_FALSE(desk.enter(2, "x"));
    CHECK(desk.waiting_in(2) == "barrier \"x\"");
    CHECK_FALSE(desk.enter(0, "x"));
    const auto release = desk.enter(1, "x");
    REQUIRE(release);
    CHECK(release->ranks == std::vector<int>{0, 1, 2});
    CHECK(release->error.empty());
    CHECK(desk.waiting_in(2).empty());
  }
}

TEST_CASE("a rank that was released from a barrier has passed it until it arrives again") {
  BarrierDesk desk(2);
  const std::string name(80, 'x');
  const std::string shown = name.substr(0, 64);  // truncated like on the board
  desk.enter(0, name);
  CHECK_FALSE(desk.has_passed(0, shown));
  desk.enter(1, name);
  CHECK(desk.has_passed(0, shown));
  CHECK(desk.has_passed(1, shown));
  CHECK_FALSE(desk.has_passed(0, "another"));
  desk.enter(0, name);
  CHECK_FALSE(desk.has_passed(0, shown));
  CHECK(desk.has_passed(1, shown));
  SECTION("also by the end of another rank") {
    desk.leave(1, false);
    CHECK(desk.has_passed(0, shown));
  }
  SECTION("or to a barrier with a similar name") {
    desk.enter(1, name + "y");
    CHECK_FALSE(desk.has_passed(1, shown));
  }
}

TEST_CASE("barriers of different names are independent") {
  BarrierDesk desk(2);
  CHECK_FALSE(desk.enter(0, "x"));
  CHECK_FALSE(desk.enter(1, "y"));
  CHECK(desk.waiting_in(0) == "barrier \"x\"");
  CHECK(desk.waiting_in(1) == "barrier \"y\"");
}

TEST_CASE("a rank that finishes releases all ranks that wait in a barrier, and is named") {
  BarrierDesk desk(3);
  desk.enter(0, "x");
  desk.enter(1, "y");
  const std::vector<Release> releases = desk.leave(2, false);
  REQUIRE(releases.size() == 2);
  CHECK(releases[0].ranks == std::vector<int>{0});
  CHECK(releases[0].because_of == 2);
  CHECK(releases[0].error == "rank 2 finished without entering barrier \"x\"");
  const auto late = desk.enter(0, "z");
  REQUIRE(late);
  CHECK(late->because_of == 2);
}

TEST_CASE("after a declared death the others continue without that rank") {
  BarrierDesk desk(3);
  desk.enter(0, "x");
  desk.enter(1, "x");
  const std::vector<Release> releases = desk.leave(2, true);
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].error.empty());
  CHECK_FALSE(desk.enter(0, "x"));
  CHECK(desk.enter(1, "x")->error.empty());
}

TEST_CASE("a barrier desk behaves like its model, in random sequences") {
  base::Rng rng(GENERATE(range(1U, 31U)));
  for (int round = 0; round < 50; ++round) {
    const int world_size = 1 + static_cast<int>(rng.below(5));
    BarrierDesk desk(world_size);
    Model model(world_size);
    std::set<int> left;
    for (int step = 0; step < 40; ++step) {
      const int rank = static_cast<int>(rng.below(static_cast<std::uint64_t>(world_size)));
      if (left.contains(rank) || model.waits(rank)) continue;  // it cannot act now
      std::vector<Release> found;
      std::vector<Release> wanted;
      if (rng.below(12) == 0) {
        const bool declared = rng.below(2) == 0;
        left.insert(rank);
        found = desk.leave(rank, declared);
        wanted = model.leave(rank, declared);
      } else {
        const std::string barrier(1, static_cast<char>('a' + rng.below(3)));
        if (auto release = desk.enter(rank, barrier)) found.push_back(*release);
        wanted = model.enter(rank, barrier);
      }
      if (!same(found, wanted)) FAIL("round " << round << ", step " << step);
      for (int r = 0; r < world_size; ++r) {
        if (desk.waiting_in(r).empty() == model.waits(r)) FAIL("rank " << r << " in round " << round);
      }
    }
  }
}

TEST_CASE("a rank that waits for a message learns which rank has finished, before and after") {
  ReceiveDesk desk;
  CHECK(desk.leave(2).empty());
  CHECK(desk.wait(0, {2, "token"}, 4) == std::vector<int>{2});
  CHECK(desk.wait(1, {3, "token"}, 4).empty());
  CHECK(desk.wait(0, {-1, "token"}, 4) == std::vector<int>{2});
  CHECK(desk.leave(3) == std::vector<int>{0, 1});
}

TEST_CASE("a rank's wait is over when the rank says so") {
  ReceiveDesk desk;
  desk.wait(0, {1, "token"}, 4);
  CHECK(desk.waiting_in(0) == "receive(\"token\") from rank 1");
  desk.end(0, {1, "other"});
  desk.end(0, {2, "token"});
  desk.end(1, {1, "token"});
  CHECK_FALSE(desk.waiting_in(0).empty());
  desk.end(0, {1, "token"});
  CHECK(desk.waiting_in(0).empty());
}

TEST_CASE("threads of a rank may wait for the same message or for different ones at once") {
  ReceiveDesk desk;
  desk.wait(0, {1, "token"}, 4);
  desk.wait(0, {1, "token"}, 4);
  desk.wait(0, {-1, "other"}, 4);
  CHECK(desk.leave(1) == std::vector<int>{0});
  desk.end(0, {1, "token"});
  CHECK(desk.waiting_in(0) == "receive(\"token\") from rank 1");
  desk.end(0, {1, "token"});
  CHECK(desk.waiting_in(0) == "receive(\"other\") from any rank");
  CHECK(desk.leave(2) == std::vector<int>{0});
  desk.end(0, {-1, "other"});
  CHECK(desk.leave(3).empty());
}

TEST_CASE("a rank that has finished waits for no message") {
  ReceiveDesk desk;
  desk.wait(0, {1, "token"}, 4);
  CHECK(desk.leave(0).empty());
  CHECK(desk.waiting_in(0).empty());
  CHECK(desk.leave(1).empty());
}

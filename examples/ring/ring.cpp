// A token goes round: rank 0 sends it to rank 1, rank 1 to rank 2, until it is back. Shows a fixture,
// parameters, a skip condition and messages. Run it with
//
//   distrun --world-size 4 ring.so
#include <string>

#include <distrun/test.hpp>

namespace {

// A fixture holds what the tests of a suite share, and has the suite's name. Each rank creates one for
// each test, sets it up before the body and tears it down afterwards.
class Ring : public distrun::Fixture {
 public:
  void set_up(distrun::Rank& rank) override {
    next_ = (rank.rank() + 1) % rank.world_size();
    previous_ = (rank.rank() + rank.world_size() - 1) % rank.world_size();
  }

  // No rank exits while a neighbour may still be talking.
  void tear_down(distrun::Rank& rank) override { rank.barrier("home"); }

 protected:
  int next_ = 0;
  int previous_ = 0;
};

// The mark that a rank adds to the token.
std::string mark_of(int rank) { return "<" + std::to_string(rank) + ">"; }

}  // namespace

// The options of a suite apply to all of its tests. A skip condition is evaluated before any rank
// exists, so a skipped test costs nothing.
DISTRUN_SUITE(Ring, .timeout = 30s,
              .skip = {skip_if([](const ListContext& run) { return run.world_size < 2; },
                               "a ring needs at least two ranks")});

// One test for each size: Ring.token_comes_back/bytes=1 and so on.
DISTRUN_TEST_F(Ring, token_comes_back, .parameters = product(axis("bytes", {1, 1024, 1 << 20}))) {
  const std::string token(rank.parameters().get<std::size_t>("bytes"), 'o');
  if (rank.rank() == 0) {
    rank.send(next_, "token", token);
    // The message is long: compare first, so that a failure does not print a megabyte.
    DISTRUN_EXPECT((rank.receive(previous_, "token") == token));
  } else {
    rank.send(next_, "token", rank.receive(previous_, "token"));
  }
}

DISTRUN_TEST_F(Ring, token_visits_every_rank_in_order) {
  if (rank.rank() == 0) {
    rank.send(next_, "token", "");
    std::string expected;
    for (int other = 1; other < rank.world_size(); ++other) expected += mark_of(other);
    DISTRUN_EXPECT(rank.receive(previous_, "token") == expected);
  } else {
    rank.send(next_, "token", rank.receive(previous_, "token") + mark_of(rank.rank()));
  }
}

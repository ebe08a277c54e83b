// A session that a suite starts once for all of its tests, as suite_groups.cpp of plugins/collectives opens groups.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

class BeginsSession : public SuiteFixture {
 public:
  void set_up_suite(Rank& rank) override {
    rank.barrier("all have begun");
    start_rpc(rank);
    agent_ = rpc::current_agent();
  }
  void tear_down_suite(Rank& rank) override {
    expect_session(rank);
    rpc::shutdown();
  }

  void expect_session(const Rank& rank) {
    DISTRUN_REQUIRE(rpc::is_initialized());
    DISTRUN_EXPECT(rpc::current_agent() == agent_);
    const std::int64_t n = n_of(rank);
    const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "add", square(n), square(n));
    DISTRUN_EXPECT(what_differs(sum, square(n, 2)) == "");
  }

 private:
  std::shared_ptr<rpc::Agent> agent_;
};

}  // namespace

DISTRUN_SUITE_FIXTURE(SuiteSession, BeginsSession);

DISTRUN_TEST(SuiteSession, is_open_in_every_test) { rank.suite<BeginsSession>().expect_session(rank); }
DISTRUN_TEST(SuiteSession, is_still_open_in_another_test) { rank.suite<BeginsSession>().expect_session(rank); }

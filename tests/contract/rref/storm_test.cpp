// Four ranks create, share, fetch and drop references at random, while the agent loses, duplicates and reorders
// retriable messages: no value is destroyed early, none stays, and all counts return to 0. Ranks are threads here.
//
//   DISTRUN_STORM_SEEDS=50 DISTRUN_STORM_REFERENCES=100000    number of storms, and of references in all
//   DISTRUN_STORM_SEED=7                                      first seed; SEEDS=1 repeats one storm
//   DISTRUN_STORM_FAULTS=drop:retriable:0.2                   another plan
#include <catch2/catch.hpp>

#include <barrier>
#include <cstdlib>

#include <distrun/common/base/sanitizer.hpp>

#include "../../unit/rpc/faulty_ranks.hpp"
#include "storm.hpp"
#include "support/environment.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::rref::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 4;
constexpr unsigned long kSeeds = base::kSanitized ? 2 : 3, kReferences = base::kSanitized ? 2000 : 6000;
constexpr char kFaults[] = "drop:retriable:0.03,dup:retriable:0.1,reorder:retriable:0.2:3";

using distrun::testing::number_of;
std::string faults() {
  const char* const text = std::getenv("DISTRUN_STORM_FAULTS");
  return text != nullptr ? text : kFaults;
}

class Storms {
 public:
  Storms(unsigned long seed, unsigned long references) : seed_(seed), references_(references) {}

  // Returns the errors; empty: success.
  std::vector<std::string> run() {
    auto errors = ranks_.run([this](int rank) { be(rank); });
    errors.insert(errors.end(), errors_.begin(), errors_.end());
    std::erase(errors, "");
    return errors;
  }

 private:
  void be(int rank) {
    rpc::init_rpc(rpc::faulty_options(ranks_, rank, std::to_string(seed_) + ":" + faults()));
    {
      Storm storm({kRanks, seed_, static_cast<int>(references_ / kRanks)});
      all_.arrive_and_wait();
      attempt(rank, [&] { storm.run(); });
      all_.arrive_and_wait();
      attempt(rank, [&] { storm.drop_all(); });
      const std::string left = left_over_after(distrun::testing::scaled(30s));
      if (!left.empty()) add_error("rank " + std::to_string(rank) + " has left over: " + left);
      all_.arrive_and_wait();
      // The thread that removed the last value from its list may still be about to destroy it.
      const auto none_is_left = [] { return Canary::alive() == 0; };
      if (rank == 0 && !distrun::testing::eventually(distrun::testing::scaled(10s), none_is_left)) {
        add_error(std::to_string(Canary::alive()) + " values are left");
      }
    }
    all_.arrive_and_wait();
    rpc::shutdown({.graceful = true, .timeout = 30});
  }
  void attempt(int rank, const std::function<void()>& part) {
    const std::string error = rpc::text_of_error(part);
    if (!error.empty()) add_error("rank " + std::to_string(rank) + ": " + error);
  }
  void add_error(std::string text) {
    const std::lock_guard lock(mutex_);
    errors_.push_back(std::move(text));
  }

  const unsigned long seed_, references_;
  rpc::Ranks ranks_{kRanks};
  std::barrier<> all_{kRanks};
  std::mutex mutex_;
  std::vector<std::string> errors_;  // guarded by mutex_
};

}  // namespace

TEST_CASE("in a storm over an agent that loses, doubles and reorders, no value is lost early and none leaks") {
  const unsigned long first = number_of("DISTRUN_STORM_SEED", 1), count = number_of("DISTRUN_STORM_SEEDS", kSeeds);
  const unsigned long references = number_of("DISTRUN_STORM_REFERENCES", kReferences);
  for (unsigned long seed = first; seed < first + count; ++seed) {
    INFO("repeat it: DISTRUN_STORM_SEED=" << seed << " DISTRUN_STORM_SEEDS=1 DISTRUN_STORM_REFERENCES=" << references
                                          << " build/bin/contract_rref");
    const std::vector<std::string> errors = Storms(seed, references).run();
    CHECK(errors == std::vector<std::string>());
  }
}

}  // namespace distrun::rref::testing

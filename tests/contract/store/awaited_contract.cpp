// Errors of waits with known writers: the caller has named the ranks that should write the keys.
#include "store_contract.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

#include "support/error_of.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using testing::FakeRank;

constexpr int kNoProcess = 1 << 22;  // one more than there can be

TEST_CASE("a wait that times out shows the state of the ranks that should write the keys") {
  FakeRank rank;
  rank.line.pids = {{1, kNoProcess}, {3, ::getpid()}};
  const auto table = make_subject();
  const auto store = table->open();
  const stores::AwaitedRanks awaited({1, 3});
  CHECK_THROWS_WITH(store->wait({"never"}, 20ms),
                    Catch::StartsWith("wait timeout after 20.0 ms, keys: " + table->prefix() + "never") &&
                        Catch::EndsWith("; from rank 1 (its process 4194304 has ended), rank 3"));
}

TEST_CASE("a wait ends early when a rank that should write the key has died, unless the key exists") {
  FakeRank rank;
  rank.line.pids = {{1, kNoProcess}};
  const auto table = make_subject();
  const auto store = table->open();
  const stores::AwaitedRanks awaited({1}, {1});
  const Error error = error_of([&] { store->wait({"never"}, 30s); });
  CHECK(error.text() ==
        "waiting for the key " + table->prefix() + "never: rank 1 is gone: its process 4194304 has ended");
  CHECK(error.because_of() == 1);
  store->set("there", "before it died");
  CHECK(store->get("there") == "before it died");
}

}  // namespace
}  // namespace distrun::stores

// The rendezvous of gloo in the group's store, where a rank's keys do not arrive.
#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include "support/error_of.hpp"
#include "support/skip.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr int kWaits = 4, kAbsent = 5;  // the group's ranks, in the test

void join(int place, const std::shared_ptr<Store>& store) {
  const ProcessGroup group({"pair", place, {kWaits, kAbsent}}, store, GroupOptions{"gloo", 30s});
}

TEST_CASE(
    "if a rank's address does not come, the error of gloo's start names the key and the rank, and so does the wait") {
  const std::string why_not = why_no_backend("gloo");
  testing::skip_case_if(!why_not.empty(), why_not);
  const auto store = std::make_shared<HashStore>();
  // The other rank finds the shared memory, but its further keys go elsewhere.
  base::Thread other("other", [&] {
    const testing::FakeRank rank;
    const auto elsewhere = std::make_shared<PrefixStore>("elsewhere", store);
    elsewhere->set("area", store->get("area"));
    elsewhere->set_timeout(300ms);
    CHECK_THROWS_AS(join(1, elsewhere), Error);
  });
  testing::FakeRank rank;
  const auto here = std::make_shared<PrefixStore>("here", store);
  base::Thread copy("copy", [&] { store->set("area", store->get("here/area")); });
  here->set_timeout(100ms);
  const Error error = testing::error_of([&] { join(0, here); });
  other.join();
  CHECK_THAT(error.text(),
             Catch::Contains("gloo cannot connect the ranks: wait timeout after 100.0 ms, keys: here/gloo/") &&
                 Catch::EndsWith("; from rank 5"));
  const auto& names = rank.line.names;
  const auto shown = std::find(names.begin(), names.end(), "here/gloo/1");
  REQUIRE(shown != names.end());
  const board::WaitInfo waited = rank.line.begun.at(static_cast<std::size_t>(shown - names.begin())).info;
  CHECK(waited.rule == board::PeerRule::All);
  for (int each = 0; each < 8; ++each) CHECK(waited.peers.has(each) == (each == kAbsent));
}

}  // namespace
}  // namespace distrun::collectives

#include "store_contract.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/skip.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using testing::FakeRank;

// Runs `act` on another thread once the rank waits.
base::Thread once_it_waits(FakeRank& rank, std::function<void()> act) {
  return base::Thread("other", [&rank, act = std::move(act)] {
    testing::eventually(30s, [&] { return rank.line.count() > 0; });
    act();
  });
}

TEST_CASE("a value that one client sets is read by another") {
  const auto table = make_subject();
  const auto one = table->open(), other = table->open();
  one->set("key", "value");
  CHECK(other->get("key") == "value");
  one->set("key", "another");
  CHECK(other->get("key") == "another");
}

TEST_CASE("keys and values are bytes") {
  const auto table = make_subject();
  const auto store = table->open();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  store->set(all, all);
  store->set("empty", "");
  CHECK(table->open()->get(all) == all);
  CHECK(store->get("empty").empty());
}

TEST_CASE("add counts from 0, in decimal digits") {
  const auto table = make_subject();
  const auto store = table->open();
  CHECK(store->add("count", 3) == 3);
  CHECK(store->add("count", -5) == -2);
  CHECK(store->get("count") == "-2");
  store->set("count", "41");
  CHECK(store->add("count", 1) == 42);
}

TEST_CASE("add refuses a value that is not a number, and does not change it") {
  const auto table = make_subject();
  const auto store = table->open();
  store->set("word", "12 apples");
  const Error error = error_of([&] { store->add("word", 1); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.type() == "ValueError");
  CHECK_THAT(error.text(), Catch::EndsWith("its value \"12 apples\" is not a number"));
  CHECK(store->get("word") == "12 apples");
  store->set("most", "9223372036854775807");
  CHECK_THAT(error_of([&] { store->add("most", 1); }).text(), Catch::Contains("overflow 64 bits"));
  CHECK(store->get("most") == "9223372036854775807");
}

TEST_CASE("sixteen clients add a thousand times each, and none is lost") {
  const auto table = make_subject();
  {
    std::vector<base::Thread> clients;
    for (int client = 0; client < 16; ++client) {
      clients.emplace_back("adds", [&] {
        const auto store = table->open();
        for (int i = 0; i < 1000; ++i) store->add("sum", 1);
      });
    }
  }
  CHECK(table->open()->get("sum") == "16000");
}

TEST_CASE("check returns whether all keys exist") {
  const auto table = make_subject();
  const auto store = table->open();
  store->set("a", "1");
  CHECK(store->check({"a"}));
  CHECK_FALSE(store->check({"a", "b"}));
  CHECK(store->check({}));
  store->queue_push("b", "1");
  CHECK(table->open()->check({"a", "b"}));
}

TEST_CASE("compare_set sets a value that is as expected, and no other") {
  const auto table = make_subject();
  const auto store = table->open();
  CHECK(store->compare_set("key", "old", "new") == "old");
  CHECK_FALSE(store->check({"key"}));
  CHECK(store->compare_set("key", "", "first") == "first");
  CHECK(store->compare_set("key", "wrong", "second") == "first");
  CHECK(store->get("key") == "first");
  CHECK(store->compare_set("key", "first", "second") == "second");
  CHECK(table->open()->get("key") == "second");
}

TEST_CASE("of clients that compare and set the same value, one wins") {
  const auto table = make_subject();
  std::atomic<int> winners{0};
  {
    std::vector<base::Thread> clients;
    for (int client = 0; client < 8; ++client) {
      clients.emplace_back("tries", [&, client] {
        const auto store = table->open();
        const std::string own = std::to_string(client);
        if (store->compare_set("leader", "", own) == own) ++winners;
      });
    }
  }
  CHECK(winners == 1);
}

TEST_CASE("append adds to an existing value") {
  const auto table = make_subject();
  const auto store = table->open();
  store->append("key", "one");
  store->append("key", ", two");
  CHECK(table->open()->get("key") == "one, two");
}

TEST_CASE("several keys are set and read at once") {
  const auto table = make_subject();
  const auto store = table->open();
  store->multi_set({{"a", "1"}, {"b", "2"}});
  CHECK(table->open()->multi_get({"b", "a", "b"}) == std::vector<std::string>{"2", "1", "2"});
  CHECK(store->multi_get({}).empty());
}

TEST_CASE("a deleted key does not exist") {
  const auto table = make_subject();
  const auto store = table->open();
  store->set("key", "value");
  const std::int64_t keys = store->num_keys();
  CHECK(table->open()->delete_key("key"));
  CHECK_FALSE(store->delete_key("key"));
  CHECK_FALSE(store->check({"key"}));
  CHECK(store->num_keys() == keys - 1);
}

TEST_CASE("num_keys counts each key once") {
  const auto table = make_subject();
  const auto store = table->open();
  const std::int64_t before = store->num_keys();
  store->set("a", "1");
  store->set("a", "2");
  store->add("b", 1);
  CHECK(table->open()->num_keys() == before + 2);
}

TEST_CASE("get waits until another client sets the key") {
  FakeRank rank;
  const auto table = make_subject();
  const auto store = table->open(), other = table->open();
  const base::Thread setter = once_it_waits(rank, [&] { other->set("late", "here"); });
  CHECK(store->get("late") == "here");
  REQUIRE_FALSE(rank.line.begun.empty());
  CHECK(rank.line.begun.back().info.kind == board::WaitKind::StoreGet);
  CHECK(rank.line.names.back() == table->prefix() + "late");
}

TEST_CASE("a wait names the ranks that its thread has declared as writers of the keys, as long as it does") {
  FakeRank rank;
  const auto table = make_subject();
  const auto store = table->open(), other = table->open();
  {
    const stores::AwaitedRanks awaited({1, 3});
    const base::Thread setter = once_it_waits(rank, [&] { other->set("late", "here"); });
    CHECK(store->get("late") == "here");
  }
  REQUIRE_FALSE(rank.line.begun.empty());
  const board::WaitInfo named = rank.line.begun.back().info;
  CHECK(named.rule == board::PeerRule::All);
  for (int each = 0; each < 5; ++each) CHECK(named.peers.has(each) == (each == 1 || each == 3));
  CHECK_THROWS_AS(store->wait({"never"}, 20ms), Error);
  CHECK(rank.line.begun.back().info.rule == board::PeerRule::None);
}

TEST_CASE("a wait for a key ends, by any operation that creates it") {
  FakeRank rank;
  const auto table = make_subject();
  const auto store = table->open(), other = table->open();
  const int how = GENERATE(0, 1, 2, 3, 4);
  const base::Thread bringer = once_it_waits(rank, [&] {
    if (how == 0) other->add("key", 1);
    if (how == 1) other->compare_set("key", "", "1");
    if (how == 2) other->append("key", "1");
    if (how == 3) other->multi_set({{"other", "2"}, {"key", "1"}});
    if (how == 4) other->queue_push("key", "1");
  });
  CHECK_NOTHROW(store->wait({"key"}, 30s));
}

TEST_CASE("wait waits for all of its keys") {
  FakeRank rank;
  const auto table = make_subject();
  const auto store = table->open(), other = table->open();
  std::atomic<bool> is_last{false};
  const base::Thread setter = once_it_waits(rank, [&] {
    other->set("a", "1");
    other->set("b", "1");
    is_last = true;
    other->set("c", "1");
  });
  store->wait({"a", "b", "c"});
  CHECK(is_last);
}

TEST_CASE("a wait times out with the names of the missing keys") {
  const auto table = make_subject();
  const auto store = table->open();
  store->set("there", "1");
  const Error error = error_of([&] { store->wait({"there", "a", "b"}, 30ms); });
  CHECK(error.kind() == ErrorKind::Timeout);
  CHECK(error.type() == "DistStoreError");
  CHECK_THAT(error.text(), Catch::StartsWith("wait timeout after ") &&
                               Catch::EndsWith("keys: " + table->prefix() + "a, " + table->prefix() + "b"));
  CHECK(store->get("there") == "1");
}

TEST_CASE("calls without a timeout have that of the store") {
  const auto table = make_subject();
  const auto store = table->open();
  CHECK(store->timeout() == 300s);
  store->set_timeout(30ms);
  CHECK(store->timeout() == 30ms);
  CHECK(error_of([&] { store->get("never"); }).kind() == ErrorKind::Timeout);
  CHECK(error_of([&] { store->multi_get({"never"}); }).kind() == ErrorKind::Timeout);
  CHECK(error_of([&] { store->queue_pop("never"); }).kind() == ErrorKind::Timeout);
}

TEST_CASE("a wait for keys ends when a rank fails, and names it") {
  FakeRank rank;
  const auto table = make_subject();
  const auto store = table->open();
  const base::Thread fails = once_it_waits(rank, [&] { rank.state.fail_peer({2, "rank 2 failed: no paper"}); });
  try {
    store->get("never");
    FAIL("nothing was thrown");
  } catch (const PeerFailed& error) {
    CHECK(error.rank() == 2);
    CHECK_THAT(error.text(), Catch::Contains("waiting for the key " + table->prefix() + "never"));
  }
  rank.state.forget_failure();
  store->set("key", "1");
  CHECK(store->get("key") == "1");
}

TEST_CASE("queues return values in their order, each once") {
  const auto table = make_subject();
  const auto store = table->open(), other = table->open();
  for (int i = 0; i < 5; ++i) store->queue_push("jobs", std::to_string(i));
  CHECK(other->queue_length("jobs") == 5);
  for (int i = 0; i < 5; ++i) CHECK(other->queue_pop("jobs") == std::to_string(i));
  CHECK(other->queue_length("jobs") == 0);
  CHECK_FALSE(other->try_queue_pop("jobs"));
  store->queue_push("jobs", "last");
  CHECK(other->try_queue_pop("jobs") == "last");
}

TEST_CASE("clients that wait for a queue each get a different value") {
  const auto table = make_subject();
  constexpr int kClients = 4;
  constexpr int kEach = 25;
  std::mutex mutex;
  std::vector<std::string> got;
  std::vector<base::Thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back("pops", [&] {
      const auto store = table->open();
      for (int i = 0; i < kEach; ++i) {
        const std::string piece = store->queue_pop("jobs", 30s);
        const std::lock_guard lock(mutex);
        got.push_back(piece);
      }
    });
  }
  const auto store = table->open();
  for (int i = 0; i < kClients * kEach; ++i) store->queue_push("jobs", std::to_string(i));
  clients.clear();
  std::sort(got.begin(), got.end());
  CHECK(got.size() == kClients * kEach);
  CHECK(std::adjacent_find(got.begin(), got.end()) == got.end());
}

TEST_CASE("a watched key reports its changes, in order") {
  const FakeRank rank;
  const auto table = make_subject();
  testing::skip_case_if(!table->tells_changes(), "this store does not report changes");
  const auto store = table->open(), other = table->open();
  std::mutex mutex;
  std::vector<std::string> told;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return told.size();
  };
  store->watch("key", [&](const std::optional<std::string>& before, const std::optional<std::string>& after) {
    const std::lock_guard lock(mutex);
    told.push_back(before.value_or("none") + " to " + after.value_or("none"));
  });
  other->set("key", "1");
  other->add("key", 1);
  other->set("another", "1");
  other->append("key", "0");
  other->delete_key("key");
  CHECK(testing::eventually(30s, [&] { return count() == 4; }));
  const std::lock_guard lock(mutex);
  CHECK(told == std::vector<std::string>{"none to 1", "1 to 2", "2 to 20", "20 to none"});
}

TEST_CASE("a store without change notifications refuses to watch") {
  const auto table = make_subject();
  testing::skip_case_if(table->tells_changes(), "this store has change notifications");
  CHECK(error_of([&] { table->open()->watch("key", [](auto, auto) {}); }).kind() == ErrorKind::Unimplemented);
}

TEST_CASE("keys and values beyond the limits are refused, and nothing is lost") {
  const auto table = make_subject();
  const auto store = table->open();
  store->set("key", "value");
  CHECK(error_of([&] { store->set(std::string(9000, 'k'), "value"); }).kind() == ErrorKind::Overloaded);
  const std::string big(std::size_t{9} * 1024 * 1024, 'v');
  const Error error = error_of([&] { store->set("key", big); });
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK_THAT(error.text(), Catch::Contains("exceeds the limit of 8388608"));
  store->append("long", big.substr(0, big.size() / 2));
  CHECK(error_of([&] { store->append("long", big.substr(0, big.size() / 2)); }).kind() == ErrorKind::Overloaded);
  CHECK(store->get("long").size() == big.size() / 2);
  CHECK(store->get("key") == "value");
}

TEST_CASE("more values than fit one answer are still read") {
  const auto table = make_subject();
  const auto store = table->open();
  std::vector<std::string> keys;
  for (char each = 'a'; each < 'h'; ++each) {
    keys.push_back(std::string(1, each));
    store->set(keys.back(), std::string(std::size_t{8} << 20, each));
  }
  const std::vector<std::string> values = store->multi_get(keys);
  REQUIRE(values.size() == keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    CHECK(values[i].size() == std::size_t{8} << 20);
    CHECK(values[i].back() == keys[i][0]);
  }
}

TEST_CASE("a part of a null store is refused") {
  CHECK_THROWS_WITH(PrefixStore("part", nullptr), "PrefixStore \"part\": the store is null");
}

TEST_CASE("parts of a store do not see each other's keys, and all keys are counted") {
  const auto table = make_subject();
  const std::shared_ptr<Store> whole = table->open();
  PrefixStore one("one", whole), two("two", table->open());
  one.set("key", "1");
  two.set("key", "2");
  CHECK(one.get("key") == "1");
  CHECK(two.get("key") == "2");
  CHECK(whole->get("one/key") == "1");
  CHECK(one.num_keys() == whole->num_keys());
}

}  // namespace
}  // namespace distrun::stores

// Several futures as one.
#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/runtime/future/collect.hpp>

#include "unit/future/fake_progress.hpp"
#include "unit/future/support.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST_CASE("all of some futures are one future, with errors and without") {
  const FakeRank rank;
  std::vector<Future<int>> own;
  for (int i = 0; i < 3; ++i) own.emplace_back();
  const Future<std::vector<Future<int>>> all = collect_all(own);
  own[2].set_result(2);
  own[0].set_error(value_error());
  CHECK_FALSE(all.done());
  own[1].set_result(1);
  const std::vector<Future<int>> done = all.wait();
  REQUIRE(done.size() == 3);
  CHECK(done[0].failed());
  CHECK(done[1].wait() == 1);
  CHECK(done[2].wait() == 2);
  CHECK(collect_all(std::vector<Future<int>>()).wait().empty());
}

TEST_CASE("a future among others that is destroyed counts as failed") {
  const FakeRank rank;
  std::vector<Future<int>> futures;
  futures.emplace_back();
  const Future<std::vector<Future<int>>> all = collect_all(futures);
  futures.clear();
  CHECK(all.wait(30s).front().failed());
}

TEST_CASE("wait_all returns the values in the order of the futures") {
  const FakeRank rank;
  std::vector<Future<int>> futures;
  for (int i = 0; i < 20; ++i) futures.emplace_back();
  const base::Thread other("completes", [&] {
    for (int i = 19; i >= 0; --i) futures[static_cast<std::size_t>(i)].set_result(i);
  });
  const std::vector<int> values = wait_all(futures);
  REQUIRE(values.size() == 20);
  CHECK(std::is_sorted(values.begin(), values.end()));
  CHECK(wait_all(std::vector<Future<int>>()).empty());
  wait_all(std::vector<Future<void>>());
}

TEST_CASE("wait_all throws the first error at once, while others are not done") {
  FakeRank rank;
  std::vector<Future<int>> futures;
  for (int i = 0; i < 3; ++i) futures.emplace_back();
  const base::Thread other = once_it_waits(rank, [&] { futures[1].set_error(value_error()); });
  CHECK(error_of([&] { wait_all(futures); }).type() == "ValueError");
  CHECK_FALSE(futures[0].done());
  futures[0].set_error(value_error());
  CHECK(unseen(rank).empty());
}

TEST_CASE("wait_all waits for the ranks of all futures, and no longer than its timeout") {
  FakeRank rank;
  std::vector<Future<int>> futures;
  for (const int peer : {1, 2, 3}) {
    future::FutureInfo info(base::Location::here());
    info.peers.add(peer);
    futures.push_back(Future<int>::of(info));
  }
  futures[0].set_result(0);
  CHECK(error_of([&] { wait_all(futures, 20ms); }).kind() == ErrorKind::Timeout);
  const board::PeerSet& peers = rank.line.begun.front().info.peers;
  CHECK_FALSE(peers.has(1));
  CHECK(peers.has(2));
  CHECK(peers.has(3));
  CHECK(rank.line.names.front() == "wait_all");
}

TEST_CASE("a wait for several futures drives the first one that is not done") {
  const FakeRank rank;
  const auto useless = std::make_shared<FakeProgress>([] {});
  std::vector<Future<int>> futures{future_with<int>(useless), Future<int>()};
  const auto progress = std::make_shared<FakeProgress>([&] {
    futures[1].set_result(2);
    futures[2].set_result(3);
  });
  futures.push_back(future_with<int>(progress));
  futures[0].set_result(1);
  const Future<std::vector<Future<int>>> all = collect_all(futures);
  CHECK(wait_all(futures) == std::vector<int>{1, 2, 3});
  CHECK(progress->calls == 1);
  CHECK(useless->calls == 0);
  CHECK(all.state()->info().progress == progress);
}

}  // namespace
}  // namespace distrun

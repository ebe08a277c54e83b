// The backend nccl over a library that fails or hangs on purpose; everything but the library is as on real GPUs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/collectives/nccl/nccl_group.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

#include "fake_nccl.hpp"
#include "fake_ras.hpp"
#include "support/error_of.hpp"
#include "support/order_reports.hpp"
#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;
using testing::FakeNccl;

GroupInfo info_of(int rank, int ranks) {
  GroupInfo info;
  info.name = "world";
  info.rank = rank;
  for (int i = 0; i < ranks; ++i) info.ranks.push_back(i);
  return info;
}

struct Fake {
  explicit Fake(NcclSettings settings = {}, int rank = 0, int ranks = 1,
                std::shared_ptr<Store> store = std::make_shared<HashStore>(), int gpu = 0, const std::string& ras = "")
      : nccl(std::make_shared<FakeNccl>()) {
    testing::use_gpus();
    nccl->ras = ras;
    NcclParts parts;
    parts.library = std::make_shared<testing::FakeLibrary>(nccl, true);
    parts.store = std::move(store);
    parts.gpu = device::cuda(gpu);
    parts.settings = settings;
    group = std::make_shared<NcclGroup>(info_of(rank, ranks), std::move(parts));
    group->join(base::system_clock().now() + 30s);
  }
  ~Fake() {
    nccl->let_go();
    group->leave(Leaving::Done, "");
  }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;

  std::shared_ptr<PendingCall> all_reduce(const Tensor& tensor, std::uint64_t number = 1,
                                          base::Nanoseconds timeout = 60s) {
    StreamCall put;
    put.call.kind = CallKind::AllReduce;
    put.call.number = number;
    put.call.dtype = tensor.dtype();
    put.call.sizes = ShownSizes(tensor.sizes());
    put.call.timeout = timeout;
    put.call.deadline = base::system_clock().now() + timeout;
    put.call.out = {{tensor.data(), static_cast<std::size_t>(tensor.numel()) * 4}};
    put.call.in = {put.call.out.front()};
    put.gpu = tensor.device();
    put.touched = {tensor};
    return group->put(std::move(put));
  }
  Tensor ones(std::int64_t count = 4) const { return tensor::ones({count}, {DType::F32, group->gpu()}); }

  std::shared_ptr<FakeNccl> nccl;
  std::shared_ptr<NcclGroup> group;
};

std::string thrown_by_wait(PendingCall& call, std::optional<base::Nanoseconds> timeout = {}) {
  return testing::error_of([&] { call.wait(timeout, {}); }).what();
}

std::string text_of(const std::exception_ptr& error) {
  if (error == nullptr) return "";
  return testing::error_of([&] { std::rethrow_exception(error); }).what();
}

TEST_CASE("an error of the library is in the call's error, and the group can no longer be used", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  fake.nccl->next = FakeNccl::Next::Refuses;
  const std::string why = testing::error_of([&] { fake.all_reduce(fake.ones()); }).what();
  CHECK(why == "all_reduce number 1 of group world: NCCL says: unhandled system error; its last error: no route");
  CHECK(fake.group->why_over() == why);
  CHECK(fake.nccl->aborted > 0);
  fake.nccl->next = FakeNccl::Next::Works;
  CHECK_THAT(testing::error_of([&] { fake.all_reduce(fake.ones(), 2); }).what(), Catch::Contains("no route"));
}

TEST_CASE("an error of a communicator is in the error of its group", "[nccl]") {
  testing::FakeRank rank;
  testing::use_gpus();
  const auto nccl = std::make_shared<FakeNccl>();
  nccl->next = FakeNccl::Next::Refuses;
  NcclParts parts;
  parts.library = std::make_shared<testing::FakeLibrary>(nccl, false);
  parts.store = std::make_shared<HashStore>();
  parts.gpu = device::cuda(0);
  const auto group = std::make_shared<NcclGroup>(info_of(0, 1), std::move(parts));
  const Error error = testing::error_of([&] { group->join(base::system_clock().now() + 30s); });
  CHECK(error.type() == "DistBackendError");
  CHECK(error.text() == "the start of group world: NCCL says: invalid usage");
  group->leave(Leaving::GaveUp, "it has not begun");
}

TEST_CASE("a call that does not finish in time is ended by the watchdog, and the process continues", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  fake.nccl->next = FakeNccl::Next::Hangs;
  const Tensor tensor = fake.ones();
  const auto call = fake.all_reduce(tensor, 1, 50ms);
  const auto second = fake.all_reduce(tensor, 2, 60s);
  call->wait({}, {});                                                         // the stream waits, not the host
  REQUIRE(testing::eventually(30s, [&] { return fake.nccl->aborted > 0; }));  // its last action
  CHECK_FALSE(fake.group->why_over().empty());
  CHECK_THAT(text_of(call->error()), Catch::EndsWith("after 50.0 ms: all ranks have called it, but nccl does not "
                                                     "complete it"));
  CHECK_THAT(thrown_by_wait(*second), Catch::Contains("all_reduce number 1 of group world has timed out"));
  device::synchronize(device::cuda(0));  // aborted calls do not block their streams
}

TEST_CASE("an error that ended a group and was never thrown is a failure of its rank", "[nccl]") {
  testing::FakeRank rank;
  const auto failures = [&] { return future::unseen_errors_of(rank.state).take_failures(); };
  Fake fake;
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(fake.ones(), 1, 50ms);
  REQUIRE(testing::eventually(30s, [&] { return fake.nccl->aborted > 0; }));
  SECTION("where no wait throws it") {
    const auto found = failures();
    CHECK_THAT(text_of(found.at(0)), Catch::StartsWith("all_reduce number 1 of group world has timed out after "));
  }
  SECTION("not where a wait throws it") { CHECK_THROWS(call->wait({}, {})); }
  SECTION("not where the next call is refused") { CHECK_THROWS(fake.all_reduce(fake.ones(), 2)); }
  CHECK(failures().empty());
}

TEST_CASE("a group that is ended on purpose reports no failure", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  fake.nccl->next = FakeNccl::Next::Hangs;
  fake.all_reduce(fake.ones());
  fake.group->leave(Leaving::GaveUp, "it was aborted");
  CHECK(future::unseen_errors_of(rank.state).take_failures().empty());
}

TEST_CASE("a call that hangs in the library is reported with the text of NCCL's RAS", "[nccl][ras]") {
  testing::FakeRank rank;
  const testing::FakeRas ras(
      testing::ras_answers(testing::ras_report({testing::ras_communicator(1, {testing::ras_rank(0, 1, 2)})})));
  Fake fake({}, 0, 1, std::make_shared<HashStore>(), 0, ras.address());
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(fake.ones(), 1, 50ms);
  REQUIRE(testing::eventually(30s, [&] { return call->error() != nullptr && !fake.group->why_over().empty(); }));
  CHECK_THAT(text_of(call->error()), Catch::EndsWith(": all ranks have called it, but nccl does not complete it; "
                                                     "NCCL's RAS reports: rank 0 has an error (system error)"));
  const auto& shown = rank.line.names;
  CHECK(std::count(shown.begin(), shown.end(), "what NCCL's RAS says of its ranks") == 1);
}

TEST_CASE("a RAS is not asked about an error that is not a timeout", "[nccl][ras]") {
  testing::FakeRank rank;
  const testing::FakeRas ras(testing::ras_answers(testing::ras_report({})));
  Fake fake({}, 0, 1, std::make_shared<HashStore>(), 0, ras.address());
  fake.nccl->next = FakeNccl::Next::Refuses;
  CHECK_THAT(testing::error_of([&] { fake.all_reduce(fake.ones()); }).what(), Catch::EndsWith("no route"));
  CHECK(ras.asked().empty());
}

TEST_CASE("an asynchronous error fails the calls in flight, and not those that are done", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  const Tensor tensor = fake.ones();
  const auto done = fake.all_reduce(tensor, 1);
  done->wait(30s, {});
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(tensor, 2);
  fake.nccl->go_wrong("remote process exited or there was a network error");
  REQUIRE(testing::eventually(30s, [&] { return call->error() != nullptr; }));
  CHECK(text_of(call->error()) ==
        "all_reduce number 2 of group world: remote process exited or there was a network error");
  CHECK(call->done());
  CHECK(done->error() == nullptr);
}

TEST_CASE("a blocking wait blocks, and throws the error", "[nccl]") {
  testing::FakeRank rank;
  const bool has_watchdog = GENERATE(true, false);
  Fake fake({.blocking_wait = true, .has_watchdog = has_watchdog});
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(fake.ones(), 1, 50ms);
  CHECK_THAT(thrown_by_wait(*call), Catch::Contains("has timed out after"));
  CHECK(rank.line.count() > 0);  // it was shown on the board
}

TEST_CASE("a wait with a timeout blocks for that long, and the work continues", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(fake.ones());
  CHECK_THAT(thrown_by_wait(*call, 20ms),
             Catch::Contains("is not done after") && Catch::EndsWith("; it is still in progress"));
  CHECK(!call->done());
  fake.nccl->let_go();
  call->wait(30s, {});
  CHECK(call->done());
  CHECK(call->error() == nullptr);
}

TEST_CASE("without error handling only a blocking wait ends a call", "[nccl]") {
  testing::FakeRank rank;
  Fake fake({.blocking_wait = false, .has_watchdog = false});
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(fake.ones(), 1, 1ms);
  call->wait({}, {});
  CHECK(fake.group->why_over().empty());
  CHECK_THAT(thrown_by_wait(*call, base::Nanoseconds::max()), Catch::Contains("number 1 of group world has timed out"));
  CHECK(!fake.group->why_over().empty());
}

TEST_CASE("a group that is aborted fails the calls in flight, with the reason", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  fake.nccl->next = FakeNccl::Next::Hangs;
  const auto call = fake.all_reduce(fake.ones());
  fake.group->leave(Leaving::GaveUp, "it was no longer needed");
  CHECK_THAT(thrown_by_wait(*call), Catch::Contains("it was no longer needed"));
  CHECK(fake.nccl->aborted > 0);
}

TEST_CASE("a rank that leaves waits for the calls in flight, and closes its communicators", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  const auto call = fake.all_reduce(fake.ones(100'000));
  fake.group->leave(Leaving::Done, "");
  CHECK(call->is_settled());
  CHECK(call->error() == nullptr);
  CHECK(fake.nccl->closed == 1);
  CHECK(fake.nccl->aborted == 0);
}

TEST_CASE("a tensor that is used without waiting for its work is reported", "[nccl]") {
  testing::FakeRank rank;
  const testing::OrderReports reports;
  Fake fake;
  const Tensor waited = fake.ones(), unwaited = fake.ones();
  fake.all_reduce(waited, 1)->wait({}, {});
  tensor::zero_(waited);
  CHECK(reports.text().empty());
  fake.nccl->next = FakeNccl::Next::Hangs;  // otherwise the watchdog may see the call's end before the next line
  const auto call = fake.all_reduce(unwaited, 2);
  tensor::zero_(unwaited);
  CHECK_THAT(reports.text(),
             Catch::Contains("the write by fill") && Catch::Contains("is not ordered after the write by "));
  fake.nccl->let_go();
  call->wait(30s, {});
}

TEST_CASE("a subgroup has a part of its group's communicator, where the library can split one", "[nccl]") {
  testing::FakeRank rank;
  Fake fake;
  NcclParts parts;
  parts.library = std::make_shared<testing::FakeLibrary>(fake.nccl, true);
  parts.store = std::make_shared<HashStore>();
  parts.split = [&](const GroupInfo& of, base::TimePoint until) { return fake.group->split(of, 3, until); };
  parts.gpu = device::cuda(0);
  const auto child = std::make_shared<NcclGroup>(info_of(0, 1), std::move(parts));
  child->join(base::system_clock().now() + 30s);
  CHECK(fake.nccl->connected == 1);  // the parent's
  CHECK(fake.nccl->split == 1);
  CHECK(fake.group->split({}, 0, base::system_clock().now()) == nullptr);  // a rank outside the new group
  child->leave(Leaving::Done, "");
  CHECK(fake.nccl->closed == 1);
}

// ---- ranks of the group, as threads, with a GPU each

// Runs the ranks; returns the exception of each.
std::vector<std::string> run_both(const std::function<void(Fake& fake, int rank)>& body, const std::vector<int>& gpus,
                                  const std::string& ras = "") {
  const auto store = std::make_shared<HashStore>();
  std::vector<std::string> thrown(2);
  {
    std::vector<base::Thread> threads;
    for (int place = 0; place < 2; ++place) {
      threads.emplace_back("rank", [&, place] {
        const auto at = static_cast<std::size_t>(place);
        const testing::FakeRank rank;
        try {
          Fake fake({}, place, 2, store, gpus[at], ras);
          body(fake, place);
        } catch (const std::exception& error) {
          thrown[at] = error.what();
        }
      });
    }
  }
  return thrown;
}

TEST_CASE("different calls of the ranks are reported beside the streams", "[nccl]") {
  testing::use_gpus();
  const auto thrown = run_both(
      [](Fake& fake, int rank) {
        fake.nccl->next = FakeNccl::Next::Hangs;
        const auto call = fake.all_reduce(fake.ones(rank == 1 ? 5 : 4));
        call->wait(60s, {});
      },
      {0, 1});
  for (const std::string& each : thrown) {
    CHECK_THAT(each, Catch::Contains("rank 1 is in all_reduce number 1, sum, float32 [5]") ||
                         Catch::Contains("has given up the group"));
  }
}

// Returns the exception of rank 0 when rank 1 does not make the call.
std::string thrown_alone(const std::string& ras) {
  testing::use_gpus();
  std::atomic<bool> is_told{false};
  const auto thrown = run_both(
      [&](Fake& fake, int rank) {
        if (rank == 1) {
          while (!is_told) std::this_thread::yield();
          return;
        }
        fake.nccl->next = FakeNccl::Next::Hangs;
        const auto call = fake.all_reduce(fake.ones(), 1, 100ms);
        try {
          call->wait(60s, {});
        } catch (const std::exception&) {
          is_told = true;
          throw;
        }
      },
      {0, 1}, ras);
  CHECK(thrown[1].empty());
  return thrown[0];
}

TEST_CASE("a rank that does not arrive is named", "[nccl]") {
  CHECK_THAT(thrown_alone(""), Catch::StartsWith("all_reduce number 1 of group world has timed out after ") &&
                                   Catch::EndsWith(": it waits for rank 1"));
}

TEST_CASE("a wait with a timeout names the ranks that have not arrived", "[nccl]") {
  testing::use_gpus();
  std::atomic<bool> is_told{false};
  const auto thrown = run_both(
      [&](Fake& fake, int rank) {
        while (rank == 1 && !is_told) std::this_thread::yield();
        if (rank == 1) return;
        fake.nccl->next = FakeNccl::Next::Hangs;
        const auto call = fake.all_reduce(fake.ones());
        std::string said;
        const auto is_named = [&] { return said.find(", it waits for rank 1") < said.size(); };
        testing::eventually(30s, [&] { return said = thrown_by_wait(*call, 5ms), is_named(); });
        is_told = true;
        throw std::runtime_error(said);
      },
      {0, 1});
  CHECK_THAT(thrown[0], Catch::StartsWith("all_reduce number 1 of group world is not done after "));
  CHECK_THAT(thrown[0], Catch::Contains(", it waits for rank 1") && Catch::EndsWith("; it is still in progress"));
}

TEST_CASE("the text of NCCL's RAS follows the names of the absent ranks", "[nccl][ras]") {
  const testing::FakeRas ras(testing::ras_answers(
      testing::ras_report({testing::ras_communicator(2, {testing::ras_rank(0, 1), testing::ras_rank(1, 0)})})));
  CHECK_THAT(thrown_alone(ras.address()),
             Catch::StartsWith("all_reduce number 1 of group world has timed out after ") &&
                 Catch::EndsWith(": it waits for rank 1; NCCL's RAS reports OK for all 2 ranks, though rank 1 has not "
                                 "arrived (AllReduce: 0 of 1)"));
}

TEST_CASE("a RAS without useful information changes no error", "[nccl][ras]") {
  const std::string report = GENERATE(std::string("garbage"), testing::ras_report({}));
  const testing::FakeRas ras(testing::ras_answers(report));
  CHECK_THAT(thrown_alone(ras.address()), Catch::EndsWith(": it waits for rank 1"));
  CHECK(!ras.asked().empty());
}

TEST_CASE("two ranks of a group need two GPUs", "[nccl]") {
  testing::use_gpus();
  const auto thrown = run_both([](Fake&, int) {}, {1, 1});
  for (const std::string& each : thrown) {
    CHECK_THAT(each, Catch::StartsWith("Duplicate GPU detected: ranks 0-1 of group world are both on GPU " +
                                       device::gpu_driver().properties(1).uuid + ", but nccl needs one for each"));
  }
}

}  // namespace
}  // namespace distrun::collectives

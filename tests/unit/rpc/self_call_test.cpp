// Calls of a worker to itself: their faults, timeouts and cancellations are those of calls to others.
#include <catch2/catch.hpp>

#include <atomic>
#include <mutex>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "faulty_ranks.hpp"
#include "unit/core/fake_rank_line.hpp"
#include "unit/future/handlers.hpp"

namespace distrun::rpc {
namespace {

using distrun::testing::soon;

std::atomic<int> self_call_count{0};
int self_call_counts() { return ++self_call_count; }
DISTRUN_RPC(self_call_counts)

// Returns when its caller does not wait any more.
std::atomic<bool> self_call_was_cancelled{false};
int self_call_until_cancelled() {
  self_call_was_cancelled = soon([] { return current_call()->is_cancelled(); });
  return 1;
}
DISTRUN_RPC(self_call_until_cancelled)

// Keeps its arguments, and changes them.
std::mutex self_call_mutex;
std::vector<Tensor> self_call_kept;
void self_call_keep(const Tensor& tensor) {
  tensor::fill_(tensor, 7);
  const std::lock_guard lock(self_call_mutex);
  self_call_kept.push_back(tensor);
}
DISTRUN_RPC(self_call_keep)

// Runs a session of two workers with these faults; worker 0 calls `to`. Returns worker 0's report. A graceful shutdown
// might wait for lost calls.
std::string said(int to, const std::string& faults, const std::function<std::string(int to)>& body) {
  const Ranks ranks(2);
  std::string text;
  CHECK(ranks.run([&](int rank) {
    init_rpc(faulty_options(ranks, rank, faults));
    if (rank == 0) text = body(to);
    if (rank == 0) ranks.store()->set("done", "1");
    ranks.store()->wait({"done"});
    shutdown({.graceful = false});
  }) == no_errors(2));
  return text;
}

std::string error_of_call(int to, double timeout = 60) {
  return text_of_error([&] { rpc_sync(Destination(to).within(timeout), self_call_counts); });
}

TEST_CASE("a call to oneself, or its answer, is lost as one to another worker") {
  const int to = GENERATE(0, 1);
  for (const std::string lost : {"call", "reply"}) {
    const std::string text = said(to, "1:drop:" + lost + ":1", [&](int callee) { return error_of_call(callee, 0.05); });
    CHECK_THAT(text, Catch::StartsWith("RPCErr:1:RPC ran for more than set timeout (50 ms)") &&
                         Catch::Contains("\"self_call_counts\" of worker" + std::to_string(to)));
  }
}

TEST_CASE("a call to oneself fails as one to another worker, and the next one succeeds") {
  const int to = GENERATE(0, 1);
  const std::string refused = "RPCErr:2:Send attempt failed intentionally for ";
  const std::string call = said(to, "1:fail:call:1", [](int callee) {
    const std::string first = error_of_call(callee);
    return first + "|" + error_of_call(callee);
  });
  CHECK_THAT(call, Catch::Contains(refused + "call to worker" + std::to_string(to)) && Catch::EndsWith("|"));
  const std::string reply = said(to, "1:fail:reply:1", [](int callee) { return error_of_call(callee); });
  CHECK_THAT(reply, Catch::Contains(refused + "reply to worker0"));
}

TEST_CASE("a delayed call to oneself comes late, and one that is delayed for too long is a timeout") {
  const int to = GENERATE(0, 1);
  std::string late, in_time;
  const base::TimePoint begin = base::system_clock().now();
  said(to, "1:delay:call:0.2", [&](int callee) {
    late = error_of_call(callee, 0.05);
    in_time = error_of_call(callee);
    return "";
  });
  CHECK_THAT(late, Catch::Contains("RPC ran for more than set timeout (50 ms)"));
  CHECK(in_time.empty());
  CHECK(base::system_clock().now() - begin >= std::chrono::milliseconds(250));
}

TEST_CASE("a doubled call to oneself runs twice, with arguments of its own") {
  const int to = GENERATE(0, 1);
  self_call_kept.clear();
  said(to, "1:dup:call:1", [](int callee) {
    const Tensor zeros = tensor::zeros({2});
    rpc_sync(callee, self_call_keep, zeros);
    CHECK(zeros.data_as<float>()[0] == 0);
    CHECK(soon([] {
      const std::lock_guard lock(self_call_mutex);
      return self_call_kept.size() == 2;
    }));
    CHECK(self_call_kept.at(0).data_as<float>() != self_call_kept.at(1).data_as<float>());
    return "";
  });
  self_call_kept.clear();
}

TEST_CASE("a cut does not touch calls to oneself, and faults of other kinds do not either") {
  CHECK(said(0, "1:cut:0@1,drop:fetch:1", [](int callee) { return error_of_call(callee); }).empty());
}

TEST_CASE("a function that is called by its own worker learns that its caller has stopped waiting") {
  const int to = GENERATE(0, 1);
  const std::string faults = GENERATE("1:fail:fetch:1", "1:delay:cancel:0.1");
  self_call_was_cancelled = false;
  const std::string text = said(to, faults, [](int callee) {
    const std::string error =
        text_of_error([&] { rpc_sync(Destination(callee).within(0.05), self_call_until_cancelled); });
    CHECK(soon([] { return self_call_was_cancelled.load(); }));
    return error;
  });
  CHECK_THAT(text, Catch::StartsWith("RPCErr:1:RPC ran for more than set timeout (50 ms)"));
}

TEST_CASE("the error of a call to oneself that runs out of time says whether it runs, and not that its caller waits") {
  const Ranks ranks(1);
  static auto* const line = new distrun::testing::FakeRankLine;  // threads may show waits until the process ends
  line->pids = {{0, 1}};
  ranks.state(0).use(line);
  std::string text;
  CHECK(ranks.run([&](int rank) {
    init_rpc(faulty_options(ranks, rank, "1:drop:call:1"));
    text = error_of_call(0, 0.05);
    shutdown({.graceful = false});
  }) == no_errors(1));
  ranks.state(0).use(nullptr);
  CHECK_THAT(text, Catch::EndsWith("; rank 0 does not run it"));
}

TEST_CASE("a graceful shutdown waits for a call to oneself that is still held back") {
  const Ranks ranks(1);
  self_call_count = 0;
  CHECK(ranks.run([&](int rank) {
    init_rpc(faulty_options(ranks, rank, "1:delay:call:0.3"));
    CHECK_FALSE(error_of_call(0, 0.05).empty());
    shutdown({.timeout = 60});
  }) == no_errors(1));
  CHECK(self_call_count == 1);
}

TEST_CASE("a call to oneself that is held back when the session ends does not run any more") {
  const Ranks ranks(1);
  self_call_count = 0;
  std::string error;
  CHECK(ranks.run([&](int rank) {
    init_rpc(faulty_options(ranks, rank, "1:delay:call:60"));
    const auto answer = rpc_async(0, self_call_counts);
    shutdown({.graceful = false});
    error = text_of_error([&] { answer.wait(); });
  }) == no_errors(1));
  CHECK_THAT(error, Catch::Contains("RPC was shut down"));
  CHECK(soon([&] { return future::handler_pool_of(ranks.state(0)).statistics().open == 0; }));
  CHECK(self_call_count == 0);
}

TEST_CASE("a graceful shutdown names a call to oneself that was lost") {
  const Ranks ranks(1);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(faulty_options(ranks, rank, "1:drop:call:1"));
    CHECK_FALSE(error_of_call(0, 0.05).empty());
    shutdown({.timeout = 0.3});
  });
  CHECK_THAT(errors[0], Catch::Contains("worker0 has sent 1 call to worker0, which has received 0"));
}

}  // namespace
}  // namespace distrun::rpc

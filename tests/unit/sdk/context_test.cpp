#include <distrun/plugin/sdk/detail/runtime.h>
#include <distrun/plugin/sdk/context.hpp>

#include <catch2/catch.hpp>
#include <thread>
#include <utility>

#include <distrun/test.hpp>

#include "fake_line.hpp"

DISTRUN_TEST(Context, knows_this_rank) {
  DISTRUN_EXPECT(&distrun::this_rank() == &rank);
  std::thread([&] { DISTRUN_EXPECT(&distrun::this_rank() == &rank); }).join();
}

namespace {

using namespace distrun;
using namespace std::chrono_literals;
using sdk_test::FakeLine;

template <class Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error(ErrorKind::Failed, "");
}

}  // namespace

TEST_CASE("a rank's context has the values of its line", "[sdk]") {
  FakeLine line;
  const Rank rank(line.rank, product(axis("a", {1})).elements().front());
  CHECK(rank.rank() == 1);
  CHECK(rank.world_size() == 4);
  CHECK(rank.attempt() == 1);
  CHECK(rank.worker_name() == "worker1");
  CHECK(rank.worker_name(3) == "worker3");
  CHECK(rank.run_id() == "r42");
  CHECK(rank.backend().empty());  // NULL with 0
  CHECK(rank.parameters().get<int>("a") == 1);
}

TEST_CASE("seeds are reproducible, and differ between ranks unless they are shared", "[sdk]") {
  FakeLine one;
  FakeLine same;
  FakeLine other;
  other.rank.worker_name = {"worker2", 7};
  CHECK(Rank(one.rank, {}).seed() == Rank(same.rank, {}).seed());
  CHECK(Rank(one.rank, {}).seed() != Rank(other.rank, {}).seed());
  CHECK(Rank(one.rank, {}).shared_seed() == 42);
}

TEST_CASE("messages are sent and received as bytes", "[sdk]") {
  FakeLine line;
  Rank rank(line.rank, {});
  rank.send(2, "tag", "data");
  line.answers.push_back({DISTRUN_OK, std::string("a\0b", 3)});
  CHECK(rank.receive(2, "tag", 5s) == std::string("a\0b", 3));
  line.answers.push_back({DISTRUN_OK, "hello", 3});
  const Message message = rank.receive_from_any("tag");
  CHECK(message.from == 3);
  CHECK(message.data == "hello");
  CHECK(line.said == std::vector<std::string>{"send 2 tag data", "receive 2 tag 5000", "receive -1 tag -1"});
}

TEST_CASE("ranks that do not exist are invalid arguments", "[sdk]") {
  FakeLine line;
  Rank rank(line.rank, {});
  const Error sent = error_of([&] { rank.send(4, "tag", "data"); });
  CHECK(sent.kind() == ErrorKind::InvalidArgument);
  CHECK(sent.text() == "send 4 bytes to rank 4 of 4: there is no such rank");
  CHECK(error_of([&] { rank.send(1, "tag", std::string((16 << 20) + 1, 'x')); }).text() ==
        "send 16777217 bytes to rank 1 of 4: a message has at most 16 MiB; send it in parts, or through a file in "
        "temp_dir()");
  CHECK(error_of([&] { rank.receive(-1, "tag"); }).kind() == ErrorKind::InvalidArgument);
}

TEST_CASE("waits that fail throw errors of distinct kinds", "[sdk]") {
  FakeLine line;
  Rank rank(line.rank, {});
  line.answers = {{DISTRUN_TIMEOUT, "rank 3 did not come"}, {DISTRUN_DISCONNECTED, ""}};
  const Error late = error_of([&] { rank.barrier("meet", 10ms); });
  CHECK(late.kind() == ErrorKind::Timeout);
  CHECK(late.type() == "TimeoutError");
  CHECK(late.text() == "barrier 'meet': rank 3 did not come");
  CHECK_THAT(late.where().file, Catch::EndsWith("context_test.cpp"));
  const Error alone = error_of([&] { rank.receive(0, "tag"); });
  CHECK(alone.kind() == ErrorKind::Disconnected);
  CHECK(alone.text() == "receive 'tag' from rank 0: the coordinator is gone");
}

TEST_CASE("a peer's failure is Disconnected and names the rank", "[sdk]") {
  FakeLine line;
  Rank rank(line.rank, {});
  line.answers.push_back({DISTRUN_PEER_FAILED, "rank 2 failed", 2});
  try {
    rank.receive_from_any("tag");
    FAIL("no error");
  } catch (const PeerFailed& error) {
    CHECK(error.rank() == 2);
    CHECK(error.kind() == ErrorKind::Disconnected);
    CHECK(error.type() == "PeerFailed");
  }
}

TEST_CASE("within a test every thread of the process works for its rank", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Context.knows_this_rank") == DISTRUN_OK);
  CHECK(line.checks == 2);
}

TEST_CASE("outside a test there is no rank", "[sdk]") {
  CHECK(error_of([] { this_rank(); }).kind() == ErrorKind::Failed);
}

TEST_CASE("a bound thread works for its own rank, and bindings nest", "[sdk]") {
  FakeLine line;
  Rank outer(line.rank, {});
  Rank inner(line.rank, {});
  std::thread([&] {
    const RankBinding bound(outer);
    {
      const RankBinding again(inner);
      CHECK(&this_rank() == &inner);
    }
    CHECK(&this_rank() == &outer);
  }).join();
  CHECK_THROWS_AS(this_rank(), Error);
}

// The functions of a plugin linked with the runtime; here they record the rank that the thread works for.
namespace {
thread_local const distrun_rank* works_for = nullptr;
}
void* distrun_runtime_bind(const distrun_rank* rank) {
  return const_cast<distrun_rank*>(std::exchange(works_for, rank));
}
void distrun_runtime_unbind(void* before) { works_for = static_cast<const distrun_rank*>(before); }

// As if the thread ran an inline function of RPC.
namespace {
thread_local bool may_wait = true;
}
std::int32_t distrun_runtime_may_wait(distrun_string doing, distrun_sink why, void* context) {
  if (may_wait) return DISTRUN_OK;
  const std::string text = "the thread " + sdk_test::text_of(doing);
  why(context, text.data(), text.size());
  return DISTRUN_INVALID;
}

TEST_CASE("a thread that the runtime lets not wait gets an error from a barrier or a receive", "[sdk]") {
  FakeLine line;
  Rank rank(line.rank, {});
  may_wait = false;
  const Error met = error_of([&] { rank.barrier("meet"); });
  const Error heard = error_of([&] { rank.receive(0, "tag"); });
  const Error heard_any = error_of([&] { rank.receive_from_any("tag"); });
  rank.send(2, "tag", "data");
  may_wait = true;
  CHECK(met.kind() == ErrorKind::Failed);
  CHECK(met.text() == "the thread waits in a barrier");
  CHECK_THAT(met.where().file, Catch::EndsWith("context_test.cpp"));
  CHECK(heard.text() == "the thread waits for a message");
  CHECK(heard_any.text() == "the thread waits for a message");
  CHECK(line.said == std::vector<std::string>{"send 2 tag data"});
}

TEST_CASE("a bound thread works for its rank in the runtime, too, where ranks are threads", "[sdk]") {
  FakeLine first, second;
  Rank outer(first.rank, {}), inner(second.rank, {});
  const bool shares = GENERATE(true, false);
  first.rank.shares_process = second.rank.shares_process = shares ? 1 : 0;
  {
    const RankBinding bound(outer);
    CHECK(works_for == (shares ? &first.rank : nullptr));
    {
      const RankBinding again(inner);
      CHECK(works_for == (shares ? &second.rank : nullptr));
    }
    CHECK(works_for == (shares ? &first.rank : nullptr));
  }
  CHECK(works_for == nullptr);
}

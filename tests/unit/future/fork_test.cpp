// Futures in a forked process.
#include <catch2/catch.hpp>

#include <functional>
#include <string>

#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/future/future.hpp>

#include "unit/future/support.hpp"
#include "unit/support/forked.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

bool is_refused(const std::function<void()>& use) {
  try {
    use();
    return false;
  } catch (const Error& error) {
    return std::string(error.what()).find("which was incomplete at the fork, cannot be used in process") !=
           std::string::npos;
  }
}

TEST_CASE("a future that the program completes can be used in a forked process") {
  const FakeRank rank;
  const Future<int> future;
  CHECK(in_child([&] {
          if (!is_refused([&] { future.wait(1ms); })) future.set_result(3);
          return future.wait(10s);
        }).code == 3);
  CHECK_FALSE(future.done());
}

TEST_CASE("a future that the runtime completes, and its dependents, are refused in a forked process") {
  const FakeRank rank;
  future::FutureInfo info(base::Location::here());
  info.kind = board::WaitKind::RpcReply;
  const auto reply = Future<int>::of(std::move(info));
  const auto next = reply.then([](const Future<int>& done) { return done.value(); });
  const auto all = future::collect_all<int>({Future<int>(), reply});
  CHECK(in_child([&] {
          return is_refused([&] { reply.wait(1ms); }) && is_refused([&] { next.wait(1ms); }) &&
                         is_refused([&] { all.wait(1ms); })
                     ? 0
                     : 1;
        }).code == 0);
  reply.set_result(1);
}

}  // namespace
}  // namespace distrun

// References to values that are not ready in time.
#include "suites.hpp"

#include "support/rref_callees_async.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

RRef<SlowClass> slow_at_next(const Rank& rank, bool delay) {
  return remote<SlowClass>(next_worker(rank), "SlowClass", ones({2, 2}), delay);
}

// `ask` requests the type with a limit of half a second; the object takes longer.
template <class Ask>
void ask_too_early(Rank& rank, const Ask& ask) {
  const auto slow = slow_at_next(rank, true);
  const auto begin = std::chrono::steady_clock::now();
  DISTRUN_EXPECT(thrown_by([&] { ask(slow); }) == a_timeout());
  DISTRUN_EXPECT(!slow.creation().done());
  DISTRUN_EXPECT(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(490));
  DISTRUN_EXPECT(what_differs(slow.to_here()->a, square(2)) == "");
}

}  // namespace

DISTRUN_TEST_F(RpcTest, rref_timeout) {
  if (rank.rank() != 0) return;
  const auto rref = remote(to("worker1").within(0.01), slow_product, 2);
  DISTRUN_EXPECT(thrown_by([&] { rref.creation().wait(); }) == a_timeout());
  wait_until_references_settle();
  DISTRUN_EXPECT(thrown_by([&] { rref.to_here(); }) == an_error("RuntimeError", "RRef creation"));
  wait_until_owners_and_forks("worker1", 1, 1);
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, rref_get_type_timeout_blocking) {
  ask_too_early(rank, [](const RRef<SlowClass>& rref) { rref.type(0.5); });
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, rref_get_type_timeout_non_blocking) {
  ask_too_early(rank, [](const RRef<SlowClass>& rref) {
    std::optional<Future<std::string>> type;
    DISTRUN_EXPECT(thrown_by([&] { type = rref.type_async(0.5); }).type == "");
    DISTRUN_REQUIRE(type.has_value());
    type->wait();
  });
}

DISTRUN_TEST_F(TensorPipeAgentRpcTest, rref_proxy_timeout) {
  const auto quick = [&] {
    auto rref = slow_at_next(rank, false);
    DISTRUN_EXPECT(what_differs(rref.to_here()->a, square(2)) == "");
    return rref;
  };
  {
    const auto rref = quick(), slow = slow_at_next(rank, true);
    const auto proxy = rref.rpc_sync(2);
    DISTRUN_EXPECT(thrown_by([&] { slow.rpc_sync(0.01).call("my_instance_method", square(2)); }) == a_timeout());
    DISTRUN_EXPECT(what_differs(slow.to_here()->a, square(2)) == "");
    DISTRUN_EXPECT(thrown_by([&] { proxy.call("my_slow_method", square(2)); }) == a_timeout());
  }
  {
    const auto rref = quick(), slow = slow_at_next(rank, true);
    const auto late = slow.rpc_async(0.01).call("my_instance_method", square(2));
    DISTRUN_EXPECT(thrown_by([&] { late.wait(); }) == a_timeout());
    DISTRUN_EXPECT(what_differs(slow.to_here()->a, square(2)) == "");
    const auto added = rref.rpc_async(2).call("my_slow_method", square(2));
    DISTRUN_EXPECT(thrown_by([&] { added.wait(); }) == a_timeout());
  }
  {
    const auto rref = quick(), slow = slow_at_next(rank, true);
    DISTRUN_EXPECT(thrown_by([&] { slow.remote(0.01).call("my_instance_method", square(2)); }) == a_timeout());
    DISTRUN_EXPECT(what_differs(slow.to_here()->a, square(2)) == "");
    const auto added = rref.remote(2).call("my_slow_method", square(2));
    DISTRUN_EXPECT(thrown_by([&] { added.creation().wait(); }) == a_timeout());
  }
}

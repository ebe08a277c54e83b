// Values and references to them, local and remote.
#include <distrun/runtime/tensor/core/factories.hpp>

#include "reference_ranks.hpp"

namespace distrun::rref {
namespace {

std::int64_t rref_add(std::int64_t a, std::int64_t b) { return a + b; }
DISTRUN_RPC(rref_add)
std::int64_t rref_throw(std::int64_t) { throw Error(ErrorKind::Failed, "nothing comes of it"); }
DISTRUN_RPC(rref_throw)
std::int64_t rref_gated(std::int64_t number) {
  const auto here = gate();
  here->wait();
  return number;
}
DISTRUN_RPC(rref_gated)

// Inline functions, which may make no call.
std::int64_t rref_makes_one() { return remote("worker0", rref_add, 1, 2).is_owner() ? 1 : 0; }
DISTRUN_RPC_INLINE(rref_makes_one)
std::int64_t rref_fetches(const RRef<std::int64_t>& ref) { return ref.to_here(); }
DISTRUN_RPC_INLINE(rref_fetches)
std::int64_t rref_fetches_later(const RRef<std::int64_t>& ref) { return ref.to_here_async().done() ? 1 : 0; }
DISTRUN_RPC_INLINE(rref_fetches_later)

struct Bound {  // to the worker that has made it
  explicit Bound(std::int64_t number_) : number(number_) {}
  std::int64_t add(std::int64_t more) { return number += more; }
  std::int64_t number;
};
const auto bound =
    rpc::RegisterClass<Bound>("UnitBound").constructor<std::int64_t>({"number"}).method("add", &Bound::add, {"more"});

}  // namespace

TEST_CASE("a local value is owned, and copies of the reference are the same reference") {
  const ReferenceRanks ranks(1);
  ranks.as(0, [] {
    const RRef<std::int64_t> ref(std::int64_t{7}), copy = ref, other(std::int64_t{7});
    CHECK(ref.is_owner());
    CHECK(ref.owner_name() == "worker0");
    CHECK(ref.confirmed_by_owner());
    CHECK(ref.to_here() == 7);
    CHECK(ref.to_here_async().wait() == 7);
    CHECK(ref.local_value() == 7);
    CHECK(ref.type() == "int");
    CHECK(ref.text() == "OwnerRRef(GloballyUniqueId(created_on=0, local_id=0))");
    CHECK(ref == copy);
    CHECK_FALSE(ref == other);
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a remote value is fetched, and is not a local value") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [&] {
    const auto ref = remote("worker1", rref_add, 1, 2);
    CHECK_FALSE(ref.is_owner());
    CHECK(ref.owner_name() == "worker1");
    CHECK(ref.to_here() == 3);
    CHECK(ref.to_here_async().wait() == 3);
    ref.creation().wait();
    CHECK(ranks.comes_true(0, [&] { return ref.confirmed_by_owner(); }));
    CHECK(ref.type() == "int");
    CHECK(ref.text() ==
          "UserRRef(RRefId = GloballyUniqueId(created_on=0, local_id=0), "
          "ForkId = GloballyUniqueId(created_on=0, local_id=1))");
    CHECK(has(rpc::text_of_error([&] { ref.local_value(); }), "can't call localValue() on user"));
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("an empty reference has no value") {
  const RRef<int> empty, other;
  CHECK(empty.text() == "RRef()");
  CHECK(empty == other);
  CHECK_FALSE(empty);
  CHECK(has(rpc::text_of_error([&] { empty.to_here(); }), "this RRef is empty"));
  CHECK(has(rpc::text_of_error([&] { empty.owner(); }), "this RRef is empty"));
}

TEST_CASE("an exception of the creating function is thrown by every fetch of the value") {
  const ReferenceRanks ranks(2);
  for (const int owner : {0, 1}) {
    ranks.as(0, [&] {
      const auto ref = remote(owner, rref_throw, 1);
      CHECK(has(rpc::text_of_error([&] { ref.to_here(); }), "nothing comes of it"));
      CHECK(has(rpc::text_of_error([&] { ref.to_here_async().wait(); }), "nothing comes of it"));
      CHECK(has(rpc::text_of_error([&] { ref.type(); }), "nothing comes of it"));
    });
  }
  CHECK(ranks.left_over() == "");
}

TEST_CASE("an object that cannot be sent is called where it is, and only fetching it is an error") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const auto there = remote<Bound>("worker1", "UnitBound", std::int64_t{1});
    CHECK(there.rpc_sync(&Bound::add, 2) == 3);
    CHECK(there.rpc_sync().call<std::int64_t>("add", 1) == 4);
    CHECK(there.remote(&Bound::add, 1).to_here() == 5);
    CHECK(there.type() == "UnitBound");
    CHECK(has(rpc::text_of_error([&] { there.to_here(); }), "UnitBound"));
    CHECK(has(rpc::text_of_error([&] { there.rpc_sync().call("sub", 1); }), "has no attribute 'sub'"));
    CHECK(has(rpc::text_of_error([&] { there.rpc_sync().call("addd", 1); }),
              "has no attribute 'addd'; did you mean add?"));
    const auto tensor = remote<Tensor>("worker1", "add", tensor::ones({2}), 1);
    CHECK(has(rpc::text_of_error([&] { tensor.rpc_sync().call("matmull"); }),
              "'Tensor' object has no attribute 'matmull'; did you mean matmul?"));
    const auto object = std::make_shared<Bound>(1);
    CHECK(RRef<Bound>(object).to_here() == object);
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("an inline function that creates a reference, or fetches a value, gets an error that names it") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const RRef<std::int64_t> ref(std::int64_t{7});
    for (const auto& [name, call] : std::vector<std::pair<std::string, std::function<void()>>>{
             {"rref_makes_one", [] { rpc::rpc_sync("worker1", rref_makes_one); }},
             {"rref_fetches", [&] { rpc::rpc_sync("worker1", rref_fetches, ref); }},
             {"rref_fetches_later", [&] { rpc::rpc_sync("worker1", rref_fetches_later, ref); }}}) {
      CHECK(has(rpc::text_of_error(call), "the inline function \"" + name + "\" makes a call: it runs on the thread"));
    }
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a fetch that times out is an error, and a later one gets the value") {
  const UseGate use;
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const auto ref = remote("worker1", rref_gated, 5);
    CHECK(has(rpc::text_of_error([&] { ref.to_here(0.05); }), "ran for more than set timeout (50 ms)"));
    gate()->open();
    CHECK(ref.to_here() == 5);
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a fetch with the largest timeout waits for the value") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    for (const double largest : {1e9, 0.0}) {  // 0: no limit
      for (const char* owner : {"worker0", "worker1"}) {
        const auto ref = remote(owner, rref_add, 1, 2);
        CHECK(ref.to_here(largest) == 3);
        CHECK(ref.to_here_async(largest).wait() == 3);
        CHECK(ref.type(largest) == "int");
      }
    }
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a reference cannot be used after its session") {
  const ReferenceRanks ranks(2);
  RRef<std::int64_t> there, here;
  ranks.as(0, [&] {
    there = remote("worker1", rref_add, 1, 2);
    here = RRef<std::int64_t>(std::int64_t{3});
    CHECK(there.to_here() == 3);
  });
  CHECK(ranks.shut_down() == rpc::no_errors(2));
  CHECK(has(rpc::text_of_error([&] { there.to_here(); }), "has been deleted. Cannot call to_here() on it after"));
  CHECK(here.local_value() == 3);
}

}  // namespace distrun::rref

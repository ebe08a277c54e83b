// References themselves: to values of this worker, their owners, their texts.
#include <distrun/runtime/nn/data_parallel.hpp>
#include <distrun/runtime/nn/layers.hpp>

#include <unordered_map>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

template <class A, class B>
concept Comparable = requires(const A& a, const B& b) {
  a == b;
};
static_assert(Comparable<WorkerInfo, WorkerInfo> && !Comparable<WorkerInfo, int>);

// Returns an id as messages print it.
std::string id_text(int created_on, int local_id) {
  return "GloballyUniqueId(created_on=" + std::to_string(created_on) + ", local_id=" + std::to_string(local_id) + ")";
}

}  // namespace

DISTRUN_TEST(RpcTest, pg_init_no_rpc_init) {
  open_group(rank);
  const auto model = std::make_shared<nn::Linear>(3, 4);
  model->train();
  const nn::DataParallel<nn::Linear> parallel(model, default_group());
  const TensorList parameters = model->parameters();
  DISTRUN_REQUIRE(parameters.size() == 2u);
  for (const Tensor& each : parameters) {
    DISTRUN_EXPECT(thrown_by([&] { RRef<Tensor>{each}; }) ==
                   an_error("RuntimeError", "Current RPC agent is not set! Did you initialize the RPC framework"));
  }
  group_barrier();
}

DISTRUN_TEST_F(RpcTest, local_rref_no_fork) { DISTRUN_EXPECT(RRef<std::int64_t>(35).local_value() == 35); }

DISTRUN_TEST_F(RpcTest, local_value_not_on_owner) {
  const auto sum = remote<Tensor>(next_worker(rank), "add", ones({1}), ones({1}));
  const int self = rank.rank(), owner = next_rank(rank);
  const std::string text = "For UserRRef(rref_id=" + id_text(self, 0) + ", fork_id=" + id_text(self, 1) +
                           "), can't call localValue() on user " + rpc::to_string(rpc::get_worker_info()) +
                           ". Call it on owner WorkerInfo(id=" + std::to_string(owner) + ", name=worker" +
                           std::to_string(owner) + ")";
  DISTRUN_EXPECT(thrown_by([&] { sum.local_value(); }) == an_error("RuntimeError", text));
}

DISTRUN_TEST_F(RpcTest, owner_equality) {
  const RRef<std::int64_t> a(40), b(50);
  const auto other_a = remote<Tensor>(next_worker(rank), "add", ones({1}), 1);
  const auto other_b = remote<Tensor>(next_worker(rank), "add", ones({1}), 1);
  other_a.to_here();
  other_b.to_here();
  DISTRUN_EXPECT(other_a.owner() == other_b.owner());
  DISTRUN_EXPECT(a.owner() != other_a.owner());
  for (const WorkerInfo& each : {a.owner(), b.owner(), other_a.owner(), other_b.owner()}) {
    DISTRUN_EXPECT(each == each);
  }
  DISTRUN_EXPECT(a.owner() == b.owner());
  DISTRUN_EXPECT(a.owner() == rpc::get_worker_info());
  std::unordered_map<WorkerInfo, RRef<rpc::Value>> by_owner;
  by_owner.emplace(a.owner(), a.as<rpc::Value>());
  by_owner.emplace(other_a.owner(), other_a.as<rpc::Value>());
  DISTRUN_EXPECT(by_owner.size() == 2u);
  DISTRUN_EXPECT(by_owner.at(a.owner()).reference() == a.reference());
  DISTRUN_EXPECT(by_owner.at(b.owner()).reference() == a.reference());
  DISTRUN_EXPECT(by_owner.at(other_a.owner()).reference() == other_a.reference());
  DISTRUN_EXPECT(by_owner.at(other_b.owner()).reference() == other_a.reference());
}

DISTRUN_TEST_F(RpcTest, rref_str) {
  const int self = rank.rank();
  const RRef<std::int64_t> local(self);
  DISTRUN_EXPECT(local.text() == "OwnerRRef(" + id_text(self, 0) + ")");
  const auto sum = remote<Tensor>(next_worker(rank), "add", ones({2, 2}), 1);
  DISTRUN_EXPECT(sum.text() == "UserRRef(RRefId = " + id_text(self, 1) + ", ForkId = " + id_text(self, 2) + ")");
}

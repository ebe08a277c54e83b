// Composite values: lists, maps and records of tensors, views, objects with encoders.
#include "suites.hpp"

#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/values/serializer.hpp>

using namespace distrun;
using namespace distrun::suites;
using rpc::to_value;
using rpc::Value;

namespace {

Value list_of(rpc::ValueList items) { return Value(rpc::List{std::move(items)}); }

// [a, [a, a], [[a, a], [a, a]], [a, [a, a]], {a: [a, [a, a]]}]
TensorClass nested_tensors(const Tensor& tensor) {
  const Value a = to_value(tensor);
  const Value b = list_of({a, a});
  const Value c = list_of({b, b});
  const Value d = list_of({a, b});
  rpc::Map e;
  e.items.emplace_back(a, d);
  return {list_of({a, b, c, d, Value(std::move(e))})};
}

// Checks every tensor in the value, and counts them.
void expect_all(const Value& value, const Tensor& expected, std::size_t& count) {
  if (const auto* const list = value.get_if<rpc::List>()) {
    for (const Value& each : list->items) expect_all(each, expected, count);
    return;
  }
  ++count;
  DISTRUN_EXPECT(what_differs(rpc::from_value<Tensor>(value), expected) == "");
}

class OwnSerializer final : public rpc::Serializer {
 public:
  rpc::Packed pack(const Value& value) const override { return rpc::pack(value); }
  Value unpack(const rpc::Packed& packed) const override { return rpc::unpack(packed); }
};

}  // namespace

DISTRUN_TEST_F(RpcTest, py_tensors_in_container) {
  const std::int64_t n = n_of(rank);
  const std::vector<Tensor> a{square(n), square(n)};
  const Tensor inner = square(3);
  const std::map<std::string, Tensor> c{{"foo", square(n)}, {"bar", square(n)}};
  const auto [sum, first, second, third] =
      rpc_sync(next_worker(rank), my_complex_tensor_function, a, nested_tensors(inner), c);
  DISTRUN_EXPECT(what_differs(sum, square(n, 5)) == "");
  std::size_t singles = 0, pairs = 0, fours = 0;
  expect_all(first, square(3), singles);
  expect_all(second, square(3), pairs);
  expect_all(third, square(3), fours);
  DISTRUN_EXPECT(singles == 1u);
  DISTRUN_EXPECT(pairs == 2u);
  DISTRUN_EXPECT(fours == 4u);
  // Tensors that are identical at the sender are identical here.
  const auto twins = rpc::from_value<std::vector<Tensor>>(second);
  DISTRUN_EXPECT(twins.at(0).is_same(twins.at(1)));
  DISTRUN_EXPECT(twins.at(0).is_same(rpc::from_value<Tensor>(first)));
  for (const Tensor& each : {a[0], a[1], c.at("foo"), c.at("bar")}) DISTRUN_EXPECT(what_differs(each, square(n)) == "");
  DISTRUN_EXPECT(what_differs(inner, square(3)) == "");
}

DISTRUN_TEST_F(RpcTest, py_nested_pickle) {
  const Tensor sum = rpc_sync(next_worker(rank), run_nested_pickle, MyPickleClass{}, square(2));
  DISTRUN_EXPECT(what_differs(sum, square(2, 3)) == "");
}

DISTRUN_TEST_F(RpcTest, non_cont_tensors) {
  if (rank.rank() != 0) return;
  const Tensor view = narrow(rand({5, 5}), 1, 2, 2);
  DISTRUN_EXPECT(!view.is_contiguous());
  const Tensor block = contiguous(view);
  DISTRUN_EXPECT(block.is_contiguous());
  DISTRUN_EXPECT(equal(view, block));
  const Tensor back = rpc_sync(next_worker(rank), non_cont_test, view, block);
  DISTRUN_EXPECT(equal(view, back));
  DISTRUN_EXPECT(back.sizes() == Dims({5, 2}));
  DISTRUN_EXPECT(!back.is_contiguous());
}

DISTRUN_TEST(RpcTest, use_rpc_pickler,
             .skip = {skip_if(distrun::suites::ranks_share_process, "ranks that are threads share the serializer")}) {
  const OwnSerializer own;
  DISTRUN_EXPECT(&rpc::current_serializer() == &rpc::default_serializer());
  {
    const rpc::UseSerializer scope(own);
    DISTRUN_EXPECT(&rpc::current_serializer() == &own);
  }
  DISTRUN_EXPECT(&rpc::current_serializer() == &rpc::default_serializer());
  DISTRUN_EXPECT_THROWS(distrun::Error, "on the way out", {
    const rpc::UseSerializer scope(own);
    DISTRUN_EXPECT(&rpc::current_serializer() == &own);
    throw distrun::Error(distrun::ErrorKind::Failed, "on the way out");
  });
  DISTRUN_EXPECT(&rpc::current_serializer() == &rpc::default_serializer());
}

// The call itself refuses a future, even deep inside another value.
DISTRUN_TEST_F(RpcTest, pickle_future) {
  const Future<int> future;
  const WantedError refusal = an_error("RuntimeError", "Can not pickle torch.futures.Future");
  const std::string peer = next_worker(rank);
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(peer, "fail_on_fut", future); }) == refusal);
  DISTRUN_EXPECT(thrown_by([&] { rpc_async(peer, "fail_on_fut", future); }) == refusal);
  DISTRUN_EXPECT(thrown_by([&] { remote<Tensor>(peer, "fail_on_fut", future); }) == refusal);
  DISTRUN_EXPECT(thrown_by([&] { rpc_async(peer, "fail_on_fut", list_of({to_value(future)})); }) == refusal);
}

#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/rpc/graph/codec.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun {
namespace {

using Catch::Matchers::Contains;
using rpc::GraphBuilder;
using rpc::GraphFunction;
using rpc::GraphValue;
using Function = std::shared_ptr<const GraphFunction>;

Function read(const rpc::Packed& packed) { return rpc::decode_graph(wire::view_of(packed.bytes), packed.tensors); }

Function squared() {
  GraphBuilder g("squared");
  const GraphValue x = g.parameter("x");
  return g.returns(x * x);
}

// Returns a function with nodes of every kind.
Function sample() {
  GraphBuilder g("sample");
  const GraphValue x = g.parameter("x"), steps = g.parameter("steps");
  const GraphValue sum = g.variable(g.op("zeros_like", x));
  const Function square = squared();
  g.for_each(0, steps, [&](GraphValue i) {
    g.branch(
        i % 2 == 0, [&] { g.assign(sum, sum + g.call(square, x) * i); },
        [&] { g.op("add_", sum, g.constant(tensor::full({2}, 0.5))); });
  });
  g.branch(steps < 0, [&] { g.raise("steps are counted", "ValueError"); });
  return g.returns(
      g.map({{"sum", sum}, {"half", g.constant(tensor::full({2}, 0.5))}, {"list", g.list(1, 2.5, "three")}}));
}

Tensor result_of(const GraphFunction& function) {
  const auto result = rpc::run_graph(function, {rpc::Value(tensor::full({2}, 2.0)), rpc::to_value(5)});
  return rpc::from_value<Tensor>(result.get_if<rpc::Map>()->items[0].second);
}

}  // namespace

TEST_CASE("a function that is read equals the one that was written, with its hash") {
  const Function function = sample(), copy = read(function->encoded());
  CHECK(rpc::to_string(*copy) == "sample(x, steps)");
  CHECK(copy->hash() == function->hash());
  CHECK(copy->encoded().bytes == function->encoded().bytes);
  CHECK(copy->encoded().tensors.size() == 2);
  CHECK(equal(result_of(*copy), tensor::full({2}, 25.0)));
  CHECK(equal(result_of(*copy), result_of(*function)));
}

TEST_CASE("a function that is read has separate tensors") {
  const Function function = sample();
  rpc::Packed packed = function->encoded();
  for (Tensor& tensor : packed.tensors) tensor = tensor::clone(tensor);
  const Function copy = read(packed);
  for (const Tensor& tensor : packed.tensors) fill_(tensor, 100);
  CHECK(copy->hash() == function->hash());
  CHECK(equal(result_of(*copy), tensor::full({2}, 25.0)));
}

TEST_CASE("different functions have different hashes") {
  const auto constant = [](auto value) {
    GraphBuilder g("f");
    return g.returns(value)->hash();
  };
  const rpc::GraphHash hash = constant(tensor::full({2}, 0.5));
  CHECK(hash == constant(tensor::full({2}, 0.5)));
  CHECK(hash != constant(tensor::full({2}, 0.25)));
  CHECK(hash != constant(tensor::full({1, 2}, 0.5)));
  CHECK(constant(1) != constant(2));
  CHECK(constant(1) != constant(1.0));
  CHECK(rpc::to_string(hash).size() == 32);
  CHECK(rpc::to_string(rpc::GraphHash{1, 0xab}) == "000000000000000100000000000000ab");
}

TEST_CASE("a function that is called in two places is sent once") {
  Function function = squared();
  for (int i = 0; i < 60; ++i) {
    GraphBuilder g("level" + std::to_string(i));
    const GraphValue x = g.parameter("x");
    const GraphValue once = g.call(function, x);
    function = g.returns(once + g.call(function, x));
  }
  CHECK(function->encoded().bytes.size() < 20'000);
  CHECK(read(function->encoded())->hash() == function->hash());
  CHECK_THROWS_WITH(rpc::run_graph(*function, {rpc::to_value(1)}, {100'000, {}}),
                    Contains("takes more than 100000 steps"));
}

TEST_CASE("a function is at most 1 MiB with its constants") {
  GraphBuilder g("large");
  for (int i = 0; i < 3; ++i) g.constant(std::string(400'000, 'x'));
  CHECK_THROWS_WITH(g.returns(), Contains("is larger than 1048576"));
  CHECK_THROWS_WITH(read({wire::Bytes((1 << 20) + 1), {}}), Contains("is larger than 1048576"));

  // A constant that is many tensors at the receiver, and one in the message.
  GraphBuilder many("many");
  const GraphValue first = many.constant(tensor::ones({1000}));
  std::vector<rpc::Value> items;
  const Function function = many.returns(first);
  rpc::Packed packed = function->encoded();
  packed.tensors[0] = tensor::ones({300'000});
  CHECK_THROWS_WITH(read(packed), Contains("bytes of constants"));
}

TEST_CASE("truncated, changed or extended bytes are refused or make a valid function") {
  const rpc::Packed packed = sample()->encoded();
  for (std::size_t size = 0; size < packed.bytes.size(); ++size) {
    const rpc::Packed cut{{packed.bytes.begin(), packed.bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                          packed.tensors};
    CHECK_THROWS_AS(read(cut), Error);
  }
  int refused = 0;
  for (std::size_t place = 0; place < packed.bytes.size(); ++place) {
    for (const int change : {1, 0x40, 0xff}) {
      rpc::Packed changed = packed;
      changed.bytes[place] ^= static_cast<std::byte>(change);
      try {
        const Function function = read(changed);
        CHECK(read(function->encoded())->hash() == function->hash());
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
  rpc::Packed longer = packed;
  longer.bytes.push_back(std::byte{0});
  CHECK_THROWS_AS(read(longer), Error);
  rpc::Packed without = packed;
  without.tensors.clear();
  CHECK_THROWS_AS(read(without), Error);
}

TEST_CASE("a function of another version, or with an unknown operator, is refused with the reason") {
  rpc::Packed packed = sample()->encoded();
  rpc::Packed later = packed;
  later.bytes[0] = std::byte{2};
  try {
    read(later);
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Unimplemented);
    CHECK(error.text() == "a graph function of version 2 came, and only 1 is known here");
  }
  const std::string name = "zeros_like";
  const auto begin = reinterpret_cast<const std::byte*>(name.data());
  const auto place = std::search(packed.bytes.begin(), packed.bytes.end(), begin, begin + name.size());
  REQUIRE(place != packed.bytes.end());
  *place = std::byte{'Z'};
  try {
    read(packed);
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.type() == "AttributeError");
    CHECK(error.text() == "graph function sample: there is no operator named Zeros_like; did you mean zeros_like?");
  }
}

TEST_CASE("a cache keeps the most recently used functions") {
  const auto numbered = [](int number) {
    GraphBuilder g("f");
    return g.returns(number);
  };
  rpc::GraphCache cache(2);
  const Function a = numbered(1), b = numbered(2), c = numbered(3);
  CHECK(cache.find(a->hash()) == nullptr);
  cache.add(a);
  cache.add(b);
  cache.add(numbered(1));
  CHECK(cache.size() == 2);
  CHECK(cache.find(a->hash()) == a);
  cache.add(c);
  CHECK(cache.find(b->hash()) == nullptr);
  CHECK(cache.find(a->hash()) == a);
  CHECK(cache.find(c->hash()) == c);
}

}  // namespace distrun

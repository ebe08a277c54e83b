// Values encoded as bytes and tensors, and decoded.
#include <catch2/catch.hpp>

#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>
#include <distrun/runtime/rpc/values/serializer.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

Value again(const Value& value) { return unpack(pack(value)); }
Value sent_tensor(const Tensor& tensor) { return Value(Tensor(tensor)); }

Value nested(int levels) {
  Value value = to_value(1);
  for (int i = 0; i < levels; ++i) value = Value(List{{std::move(value)}});
  return value;
}

// Its encoder packs values itself while the codec is running.
struct Reentrant {
  std::vector<int> numbers;
};
// Encoded as an object of another class.
struct Outer {
  Reentrant inner;
};
struct Endless {};
struct Stays {};

void register_classes() {
  static const bool once = [] {
    RegisterClass<Reentrant>("codec_test.Reentrant")
        .by_value(
            [](const Reentrant& object) {
              const Packed packed = pack(to_value(object.numbers));
              return std::string(reinterpret_cast<const char*>(packed.bytes.data()), packed.bytes.size());
            },
            [](const std::string& text) {
              Packed packed;
              const auto* const data = reinterpret_cast<const std::byte*>(text.data());
              packed.bytes.assign(data, data + text.size());
              return Reentrant{from_value<std::vector<int>>(unpack(packed))};
            });
    RegisterClass<Outer>("codec_test.Outer")
        .by_value([](const Outer& object) { return object.inner; },
                  [](const Reentrant& inner) { return Outer{inner}; });
    RegisterClass<Endless>("codec_test.Endless")
        .by_value([](const Endless& object) { return object; }, [](const Endless& object) { return object; });
    RegisterClass<Stays>("codec_test.Stays");
    return true;
  }();
  (void)once;
}

TEST_CASE("values of each kind are read back unchanged") {
  const Tensor tensor = tensor::ones({2, 3});
  Map map;
  map.items.emplace_back(sent_tensor(tensor), to_value("one"));
  map.items.emplace_back(to_value("b"), Value());
  map.items.emplace_back(to_value(std::pair(1, 2)), to_value(0.5));
  const Value values[] = {
      Value(),
      Value(true),
      Value(false),
      to_value(std::numeric_limits<std::int64_t>::min()),
      to_value(-0.0),
      to_value(std::numeric_limits<double>::infinity()),
      to_value(std::string("\0\n\xff", 3)),
      to_value(""),
      sent_tensor(tensor),
      Value(Tensor()),
      Value(device::kCpu),
      Value(device::cuda(63)),
      Value(WorkerInfo("worker:1", 32767)),
      Value(FunctionName{"MyClass.method"}),
      Value(List()),
      Value(Tuple{{to_value(1), Value(List{{Value()}})}}),
      Value(std::move(map)),
      Value(Record{{to_value(1), Value(Record())}}),
      nested(kDepthMax),
  };
  for (const Value& each : values) {
    INFO(describe(each));
    CHECK(same(again(each), each));
  }
  CHECK(std::signbit(*again(to_value(-0.0)).get_if<double>()));
}

TEST_CASE("a tensor that appears several times is sent once, and is one tensor afterwards") {
  for (const int others : {0, 40}) {
    ValueList items;
    const Tensor shared = tensor::ones({2});
    items.push_back(sent_tensor(shared));
    for (int i = 0; i < others; ++i) items.push_back(sent_tensor(tensor::zeros({1})));
    items.push_back(sent_tensor(shared));
    items.push_back(items[others == 0 ? 0 : 5]);
    const Packed packed = pack(Value(List{items}));
    CHECK(packed.tensors.size() == 1 + static_cast<std::size_t>(others));
    CHECK(same(unpack(packed), Value(List{items})));
  }
}

TEST_CASE("aliases among many tensors are recognized by their memory") {
  wire::ByteWriter bytes;
  TensorList tensors(20, tensor::ones({1}));  // repeated, and unrelated to the others
  const Tensor own = tensor::zeros({1});
  ValueWriter writer(bytes, tensors);
  for (int i = 0; i < 3; ++i) writer.write(sent_tensor(own));
  CHECK(tensors.size() == 21);
  const wire::Bytes made = bytes.take();
  wire::ByteReader in(wire::view_of(made));
  ValueReader reader(in, tensors);
  for (int i = 0; i < 3; ++i) CHECK(reader.read().get_if<Tensor>()->is_same(own));
  CHECK_NOTHROW(in.expect_end());
}

TEST_CASE("a sparse tensor is sent as two tensors, and stays coalesced or not") {
  const Tensor indices = tensor::from_values<std::int64_t>({0, 2, 2, 1, 0, 0}, Dims{2, 3});
  const Tensor values = tensor::from_values<float>({1, 2, 3});
  const Tensor loose = tensor::sparse_coo(indices, values, {3, 4});
  const Tensor tight = tensor::coalesce(loose);
  const Packed packed = pack(Value(List{{sent_tensor(loose), sent_tensor(tight), sent_tensor(loose)}}));
  CHECK(packed.tensors.size() == 4);
  const auto back = from_value<std::vector<Tensor>>(unpack(packed));
  CHECK_FALSE(tensor::is_coalesced(back[0]));
  CHECK(tensor::is_coalesced(back[1]));
  CHECK(back[2].is_same(back[0]));
  CHECK(back[0].sizes() == Dims{3, 4});
  CHECK(tensor::to_vector<float>(tensor::to_dense(back[0])) == tensor::to_vector<float>(tensor::to_dense(loose)));
  CHECK(tensor::to_vector<float>(tensor::to_dense(back[1])) == tensor::to_vector<float>(tensor::to_dense(tight)));
  const Tensor empty = tensor::empty_sparse({3, 0}, {}, 1);
  CHECK(from_value<Tensor>(again(sent_tensor(empty))).sizes() == Dims{3, 0});
}

TEST_CASE("objects are sent in the form that their class defines") {
  register_classes();
  CHECK(from_value<Reentrant>(again(to_value(Reentrant{{1, 2}}))).numbers == std::vector{1, 2});
  CHECK(from_value<Outer>(again(to_value(Outer{{{3}}}))).inner.numbers == std::vector{3});
  const Value twice = again(Value(List{{to_value(Reentrant{{4}}), to_value(Outer{{{5}}})}}));
  CHECK(from_value<Outer>(twice.get_if<List>()->items[1]).inner.numbers == std::vector{5});
}

TEST_CASE("futures are refused, at any place in a value") {
  const Value future = to_value(Future<int>());
  Map map;
  map.items.emplace_back(to_value("key"), future);
  for (const Value& value : {future, Value(List{{Value(), Value(Tuple{{future}})}}), Value(std::move(map))}) {
    const Error error = testing::error_of([&] { pack(value); });
    CHECK(error.type() == "RuntimeError");
    CHECK_THAT(error.text(), Catch::StartsWith("Can not pickle torch.futures.Future"));
  }
}

TEST_CASE("values that cannot be sent are refused") {
  register_classes();
  const auto too_deep = [](int levels) {
    return "a value is nested " + std::to_string(levels) +
           " levels deep, and at most 64 can be sent: make it flatter, or send its parts one by one";
  };
  CHECK_THROWS_WITH(pack(nested(kDepthMax + 1)), too_deep(65));
  CHECK_THROWS_WITH(pack(nested(200)), too_deep(200));
  CHECK_THROWS_WITH(pack(to_value(Endless())), too_deep(65));
  CHECK_THROWS_WITH(pack(to_value(Stays())),
                    "objects of the class codec_test.Stays can't be sent: its registration says nothing of that, by "
                    ".by_value(encode, decode)");
}

TEST_CASE("objects are not created where none are allowed, nor of unknown classes") {
  register_classes();
  const Packed packed = pack(Value(List{{to_value(Reentrant{{1}})}}));
  wire::ByteReader bytes(wire::view_of(packed.bytes));
  ValueReader reader(bytes, packed.tensors, Instances::Refused);
  CHECK_THROWS_WITH(reader.read(), "a message has an object of the class \"codec_test.Reentrant\" where none may be");
  Packed other = packed;
  const std::string name = "codec_test.Reentrant";
  const auto* const first = reinterpret_cast<const std::byte*>(name.data());
  const auto at = std::search(other.bytes.begin(), other.bytes.end(), first, first + name.size());
  REQUIRE(at != other.bytes.end());
  *at = std::byte{'x'};
  const Error error = testing::error_of([&] { unpack(other); });
  CHECK(error.kind() == ErrorKind::Failed);
  CHECK(error.text() ==
        "no class \"xodec_test.Reentrant\" whose objects can be sent is registered here. Default RPC pickler does not "
        "serialize function code: it must be there on both sides");
}

class Counting final : public Serializer {
 public:
  Packed pack(const Value& value) const override {
    ++packs;
    return default_serializer().pack(value);
  }
  Value unpack(const Packed& packed) const override { return default_serializer().unpack(packed); }
  mutable int packs = 0;
};

TEST_CASE("a serializer is used for a scope, also for a nested one") {
  CHECK(&current_serializer() == &default_serializer());
  const Counting outer, inner;
  {
    const UseSerializer guard(outer);
    {
      const UseSerializer other(inner);
      (void)current_serializer().pack(to_value(1));
    }
    CHECK(&current_serializer() == &outer);
  }
  CHECK(inner.packs == 1);
  CHECK(outer.packs == 0);
  CHECK(&current_serializer() == &default_serializer());
}

}  // namespace
}  // namespace distrun::rpc

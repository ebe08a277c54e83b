// Malformed bytes: an error each time, and nothing worse.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::rpc {
namespace {

struct Box {
  std::string text;
};

std::vector<Packed> samples() {
  static const auto box =
      RegisterClass<Box>("codec_hostile_test.Box")
          .by_value([](const Box& object) { return object.text; }, [](const std::string& text) { return Box{text}; });
  const Tensor tensor = tensor::ones({2});
  const Tensor sparse = tensor::coalesce(
      tensor::sparse_coo(tensor::from_values<std::int64_t>({0, 2, 1, 0}, Dims{2, 2}), tensor::ones({2}), {3, 4}));
  Map map;
  map.items.emplace_back(Value(Tensor(tensor)), to_value("a"));
  map.items.emplace_back(to_value(WorkerInfo("worker1", 1)), Value(device::cuda(1)));
  std::vector<Packed> all;
  for (const Value& each :
       {to_value("text"), to_value(3), Value(Tensor(sparse)), Value(std::move(map)), to_value(Box{"inside"}),
        Value(List{{Value(), Value(true), Value(Tuple{{to_value(0.5), Value(Record{{Value(FunctionName{"f"})}})}}),
                    Value(Tensor(sparse)), Value(Tensor(sparse)), Value(Tensor()), Value(Tensor(tensor))}})}) {
    all.push_back(pack(each));
  }
  return all;
}

// Returns true if it was decoded.
bool is_read(const Packed& packed) {
  try {
    return same(unpack(packed), Value()) || true;
  } catch (const Error&) {
    return false;
  }
}

TEST_CASE("truncated values are refused, at any length") {
  for (const Packed& whole : samples()) {
    REQUIRE(is_read(whole));
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
      Packed cut = whole;
      cut.bytes.resize(size);
      CHECK_FALSE(is_read(cut));
    }
    Packed longer = whole;
    longer.bytes.push_back(std::byte{0});
    CHECK_FALSE(is_read(longer));
  }
}

TEST_CASE("values with a changed byte are read or refused") {
  int refused = 0;
  for (const Packed& whole : samples()) {
    for (std::size_t at = 0; at < whole.bytes.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        Packed changed = whole;
        changed.bytes[at] = std::byte(value);
        refused += is_read(changed) ? 0 : 1;
      }
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("values with many changed bytes are read or refused") {
  base::Rng rng(17);
  const std::vector<Packed> all = samples();
  for (int i = 0; i < 20'000; ++i) {
    Packed changed = all[rng.below(all.size())];
    for (auto times = rng.below(6); times-- > 0;) {
      changed.bytes[rng.below(changed.bytes.size())] = std::byte(static_cast<unsigned char>(rng.next()));
    }
    if (rng.below(4) == 0 && !changed.tensors.empty()) changed.tensors.pop_back();
    is_read(changed);
  }
}

// After the bytes of a tag.
Packed sparse_of(const Tensor& indices, const Tensor& values, const std::vector<std::int64_t>& sizes, bool coalesced) {
  wire::ByteWriter bytes;
  bytes.number(std::uint8_t{8});
  bytes.number(std::uint32_t{0});
  bytes.number(std::uint32_t{1});
  bytes.number(static_cast<std::uint8_t>(coalesced));
  bytes.number(static_cast<std::uint32_t>(sizes.size()));
  for (const std::int64_t each : sizes) bytes.number(each);
  return {bytes.take(), {indices, values}};
}

TEST_CASE("sparse tensors with mismatched parts are refused") {
  const Tensor indices = tensor::from_values<std::int64_t>({0, 2, 1, 0}, Dims{2, 2}), values = tensor::ones({2});
  const Tensor none = tensor::from_values<std::int64_t>({}, Dims{2, 0});
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  CHECK(is_read(sparse_of(indices, values, {3, 4}, true)));
  CHECK_FALSE(is_read(sparse_of(indices, values, {2, 4}, false)));           // an index beyond the size
  CHECK_FALSE(is_read(sparse_of(indices, values, {3}, false)));              // another number of dimensions
  CHECK_FALSE(is_read(sparse_of(indices, values, {kHuge, kHuge}, false)));   // product overflows
  CHECK_FALSE(is_read(sparse_of(indices, values, {3, -4}, false)));          // negative
  CHECK_FALSE(is_read(sparse_of(none, tensor::ones({0}), {3, -4}, false)));  // negative, without entries
  CHECK_FALSE(is_read(sparse_of(none, tensor::ones({0}), {kHuge, kHuge}, true)));
  CHECK_FALSE(is_read(sparse_of(values, values, {3, 4}, false)));              // indices of the wrong dtype
  CHECK_FALSE(is_read(sparse_of(indices, tensor::ones({}), {3, 4}, false)));   // one value for all
  CHECK_FALSE(is_read(sparse_of(indices, tensor::ones({3}), {3, 4}, false)));  // too many values
  CHECK_FALSE(is_read(sparse_of(indices, values, std::vector<std::int64_t>(65, 1), false)));
  const Tensor unsorted = tensor::from_values<std::int64_t>({2, 0, 1, 0}, Dims{2, 2});
  CHECK(is_read(sparse_of(unsorted, values, {3, 4}, false)));
  CHECK_FALSE(is_read(sparse_of(unsorted, values, {3, 4}, true)));
}

TEST_CASE("a list that claims more elements than its bytes allow allocates no memory") {
  for (const int tag : {13, 14, 15, 16}) {
    wire::ByteWriter bytes;
    bytes.number(static_cast<std::uint8_t>(tag));
    bytes.number(std::uint32_t{0xffffffff});
    bytes.append("\0\0\0\0\0\0\0\0", 8);
    const Packed packed{bytes.take(), {}};
    CHECK_THROWS_AS(unpack(packed), Error);
  }
}

TEST_CASE("a value that is too deep is refused before the stack overflows") {
  Packed packed;
  for (int i = 0; i < 100'000; ++i) {
    packed.bytes.push_back(std::byte{13});
    for (const int each : {1, 0, 0, 0}) packed.bytes.push_back(std::byte(each));
  }
  CHECK_THROWS_WITH(unpack(packed), "a value is nested more than 64 levels deep");
}

}  // namespace
}  // namespace distrun::rpc

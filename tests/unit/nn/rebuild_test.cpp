#include <catch2/catch.hpp>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/nn/rebuild.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::nn {
namespace {

struct Batch {
  Tensor a, b;
  int rows = 0;
};
DISTRUN_FIELDS(Batch, m.a, m.b, m.rows)

struct Opaque {
  Tensor hidden;
};

// Replaces each tensor by another one, and counts them.
struct Counting {
  int count = 0;
  TensorMap map = [this](const Tensor&) { return ++count, tensor::full({1}, count); };
};

float first_of(const Tensor& tensor) { return tensor.data_as<float>()[0]; }
Tensor zero() { return tensor::zeros({1}); }

}  // namespace

TEST_CASE("tensors are replaced everywhere in a value, and the original value keeps its tensors") {
  Counting counting;
  const auto value =
      std::make_tuple(zero(), std::vector<Tensor>{zero(), zero()}, std::map<int, Tensor>{{1, zero()}},
                      std::optional<Tensor>(zero()), std::variant<int, Tensor>(zero()), std::pair(zero(), 3));
  const auto other = rebuilt(value, counting.map);
  CHECK(counting.count == 7);
  CHECK(first_of(std::get<1>(other)[1]) == 3);
  CHECK(first_of(std::get<Tensor>(std::get<4>(other))) == 6);
  CHECK(std::get<5>(other).second == 3);
  CHECK(first_of(std::get<0>(value)) == 0);
}

TEST_CASE("only structs that name their fields are searched") {
  Counting counting;
  const Batch batch = rebuilt(Batch{zero(), zero(), 5}, counting.map);
  CHECK(first_of(batch.a) == 1);
  CHECK(first_of(batch.b) == 2);
  CHECK(batch.rows == 5);
  CHECK(first_of(rebuilt(Opaque{zero()}, counting.map).hidden) == 0);
  CHECK(rebuilt(std::string("text"), counting.map) == "text");
  CHECK_FALSE(rebuilt(Tensor(), counting.map).defined());
}

}  // namespace distrun::nn

// A value as another worker sends it, with tensors beside it. Any input is refused, or stays the same when it is
// written and read again.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

struct Box {
  std::string text;
};
[[maybe_unused]] const auto box = rpc::RegisterClass<Box>("Box").by_value(
    [](const Box& object) { return object.text; }, [](const std::string& text) { return Box{text}; });

// The tensors of a sparse one, and others.
const TensorList& tensors() {
  static const TensorList* const list = new TensorList{tensor::from_values<std::int64_t>({0, 2, 1, 0}, Dims{2, 2}),
                                                       tensor::ones({2}), tensor::zeros({}), tensor::zeros({0, 3})};
  return *list;
}

void take(const rpc::Packed& packed) {
  rpc::Value value;
  try {
    value = rpc::unpack(packed);
  } catch (const Error&) {
    return;
  }
  const rpc::Packed written = rpc::pack(value);
  const rpc::Value again = rpc::unpack(written);
  require(rpc::pack(again).bytes == written.bytes, "what was written is read");
  require(rpc::describe(again) == rpc::describe(value), "a value is what it was");
  require(rpc::holds_instance(again) == rpc::holds_instance(value), "objects are where they were");
}

// Reads the elements of sparse tensors, as a callee does.
void densify(const rpc::Packed& packed) {
  try {
    const Tensor sparse = rpc::from_value<Tensor>(rpc::unpack(packed));
    if (sparse.defined() && sparse.is_sparse() && sparse.numel() < 10'000) tensor::to_dense(sparse);
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  const rpc::Packed packed{{bytes, bytes + size}, tensors()};
  take(packed);
  densify(packed);
  return 0;
}

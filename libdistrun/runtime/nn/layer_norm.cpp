#include <distrun/runtime/nn/layer_norm.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::nn {
namespace {

[[noreturn]] void refuse_layer_norm(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, "ValueError", "LayerNorm: " + text);
}

}  // namespace

LayerNorm::LayerNorm(const Dims& sizes, LayerNormOptions options) : sizes_(sizes), options_(options) {
  if (sizes.empty() || std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 1; })) {
    refuse_layer_norm("sizes must be at least one, each at least 1, not " + device::to_string(sizes));
  }
  if (!(options.epsilon > 0)) refuse_layer_norm("epsilon must be above 0, not " + std::to_string(options.epsilon));
  if (!options.affine) return;
  add_parameter("weight", ones(sizes));
  add_parameter("bias", zeros(sizes));
}

Tensor LayerNorm::forward(const Tensor& input) { return layer_norm(input, sizes_, weight(), bias(), options_.epsilon); }

}  // namespace distrun::nn

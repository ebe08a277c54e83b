#pragma once
// Modules with weights, and modules that change shapes and order. Initial weights are the usual ones: uniform within 1
// / sqrt(inputs), and normal for tables; they are drawn from the default generator.
#include <distrun/runtime/autograd/operators/embedding.hpp>
#include <distrun/runtime/autograd/operators/images.hpp>
#include <distrun/runtime/nn/activations.hpp>
#include <distrun/runtime/nn/module.hpp>

namespace distrun::nn {

// Computes x weight^T + bias.
class Linear final : public Module {
 public:
  Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias = true);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const noexcept { return parameter(0); }  // [outputs, inputs]
  Tensor bias() const { return with_bias_ ? parameter(1) : Tensor(); }

 private:
  const bool with_bias_;
};

class Conv2d final : public Module {
 public:
  // The window is a square with sides of `window` pixels.
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t window, std::int64_t stride = 1,
         std::int64_t padding = 0, bool with_bias = true);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const noexcept { return parameter(0); }
  Tensor bias() const { return with_bias_ ? parameter(1) : Tensor(); }

 private:
  const Conv2dOptions options_;
  const bool with_bias_;
};

class MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(std::int64_t window, std::int64_t stride = 0);  // 0: same as the window
  Tensor forward(const Tensor& input) override;

 private:
  const Pool2dOptions options_;
};

class Flatten final : public Module {
 public:
  explicit Flatten(std::int64_t first = 1, std::int64_t last = -1) : first_(first), last_(last) {}
  Tensor forward(const Tensor& input) override;

 private:
  const std::int64_t first_, last_;
};

// Runs modules one after the other; their names are their numbers.
class Sequential final : public Module {
 public:
  explicit Sequential(const std::vector<std::shared_ptr<Module>>& layers);
  Tensor forward(const Tensor& input) override;
};

// A table of rows; each index is replaced by its row: [...] becomes [..., width].
class Embedding final : public Module {
 public:
  Embedding(std::int64_t rows, std::int64_t width);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const noexcept { return parameter(0); }
};

struct EmbeddingBagOptions {
  BagMode mode = BagMode::Mean;
  bool sparse = false;  // the table's gradient is sparse
};

// A table of rows; sums them by bags.
class EmbeddingBag final : public Module {
 public:
  using Options = EmbeddingBagOptions;

  EmbeddingBag(std::int64_t rows, std::int64_t width, Options options = {});
  // Indices [bags, n]: n per bag.
  Tensor forward(const Tensor& input) override;
  Tensor forward(const Tensor& indices, const Tensor& offsets, const Tensor& factors = {});
  const Tensor& weight() const noexcept { return parameter(0); }

 private:
  const Options options_;
};

}  // namespace distrun::nn

#pragma once
// Modules with weights, and modules that change shapes and order. Initial weights are the usual ones: uniform within 1
// / sqrt(inputs), and normal for tables; they are drawn from the default generator.
#include <distrun/runtime/autograd/operators/embedding.hpp>
#include <distrun/runtime/autograd/operators/images.hpp>
#include <distrun/runtime/nn/activations.hpp>
#include <distrun/runtime/nn/module.hpp>

namespace distrun::nn {

// Computes x weight^T + bias for x [..., inputs]; returns [..., outputs].
class Linear final : public Module {
 public:
  // Weight and bias are uniform within 1 / sqrt(inputs). Throws Error{InvalidArgument} for sizes below 1.
  Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias = true);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const noexcept { return parameter(0); }        // [outputs, inputs]
  Tensor bias() const { return with_bias_ ? parameter(1) : Tensor(); }  // [outputs]; undefined without

 private:
  const bool with_bias_;
};

// Convolves images [batch, in channels, height, width] with zeros around them: see distrun::conv2d().
class Conv2d final : public Module {
 public:
  // The window is a square with sides of `window` pixels. Weight and bias are uniform within 1 / sqrt(in_channels
  // window^2). Throws Error{InvalidArgument} for sizes below 1.
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t window, std::int64_t stride = 1,
         std::int64_t padding = 0, bool with_bias = true);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const noexcept { return parameter(0); }        // [out channels, in channels, window, window]
  Tensor bias() const { return with_bias_ ? parameter(1) : Tensor(); }  // [out channels]; undefined without

 private:
  const Conv2dOptions options_;
  const bool with_bias_;
};

// The largest element under each position of a square window: see distrun::max_pool2d().
class MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(std::int64_t window, std::int64_t stride = 0);  // 0: same as the window
  Tensor forward(const Tensor& input) override;

 private:
  const Pool2dOptions options_;
};

// Joins dimensions: by default [batch, ...] becomes [batch, n].
class Flatten final : public Module {
 public:
  explicit Flatten(std::int64_t first = 1, std::int64_t last = -1) : first_(first), last_(last) {}  // both inclusive
  Tensor forward(const Tensor& input) override;

 private:
  const std::int64_t first_, last_;
};

// Runs modules one after the other; their names are their numbers.
class Sequential final : public Module {
 public:
  // Throws Error{InvalidArgument} for a null module.
  explicit Sequential(const std::vector<std::shared_ptr<Module>>& layers);
  Tensor forward(const Tensor& input) override;
};

// A table of rows; each index is replaced by its row: [...] becomes [..., width].
class Embedding final : public Module {
 public:
  // Rows are drawn from a normal distribution of mean 0 and variance 1. Throws Error{InvalidArgument} for sizes below
  // 1.
  Embedding(std::int64_t rows, std::int64_t width);
  Tensor forward(const Tensor& input) override;
  const Tensor& weight() const noexcept { return parameter(0); }  // [rows, width]
};

// Options of EmbeddingBag.
struct EmbeddingBagOptions {
  BagMode mode = BagMode::Mean;  // Sum or Mean of the rows of a bag
  bool sparse = false;           // the table's gradient is sparse
};

// A table of rows; sums them by bags.
class EmbeddingBag final : public Module {
 public:
  using Options = EmbeddingBagOptions;  // as passed to the constructor

  // Rows are drawn from a normal distribution of mean 0 and variance 1. Throws Error{InvalidArgument} for sizes below
  // 1.
  EmbeddingBag(std::int64_t rows, std::int64_t width, Options options = {});
  // Indices [bags, n]: n per bag.
  Tensor forward(const Tensor& input) override;
  // Returns [bags, width]. Indices int64 [n]; offsets int64 [bags], the begin of each bag; factors [n] for the mode
  // Sum, or undefined.
  Tensor forward(const Tensor& indices, const Tensor& offsets, const Tensor& factors = {});
  const Tensor& weight() const noexcept { return parameter(0); }  // [rows, width]

 private:
  const Options options_;
};

}  // namespace distrun::nn

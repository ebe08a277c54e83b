#include <distrun/runtime/nn/activations.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::nn {

Tensor ReLU::forward(const Tensor& input) { return relu(input); }
Tensor Tanh::forward(const Tensor& input) { return tanh(input); }
Tensor Sigmoid::forward(const Tensor& input) { return sigmoid(input); }
Tensor Softmax::forward(const Tensor& input) { return softmax(input, dim_); }
Tensor LogSoftmax::forward(const Tensor& input) { return log_softmax(input, dim_); }

Dropout::Dropout(double p) : p_(p) {
  if (p >= 0 && p <= 1) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "dropout probability has to be between 0 and 1, but got " + tensor::to_string(Scalar(p)));
}

Tensor Dropout::forward(const Tensor& input) { return dropout(input, p_, is_training()); }

}  // namespace distrun::nn

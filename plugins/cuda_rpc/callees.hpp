#pragma once
// Functions and classes of ported tests that others call with tensors of GPUs, under the names that they have there.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>

namespace distrun::suites {

// Sums, whose arguments are to be where the test says: else a ValueError, "Wrong device affinity".
Tensor gpu_add(Tensor x, Tensor y);  // of two on cuda:1, on cuda:0
Tensor gpu_add_given_gpus(Tensor x, Tensor y, device::Device x_to, device::Device y_to, device::Device z_to);
std::tuple<Tensor, Tensor> gpu_add_multi_gpu(Tensor x, Tensor y);  // x + y on cuda:0, and x - y on cuda:1
// Of two of the CPU: their sum, difference, product and quotient, on four devices.
std::tuple<Tensor, Tensor, Tensor, Tensor> gpu_add_return_to_gpu(Tensor x, Tensor y);
std::tuple<Tensor, Tensor, Tensor, Tensor> gpu_four_operations(Tensor x, Tensor y);  // the same of two on cuda:0, there
Tensor gpu_add_wrong_gpus(Tensor x, Tensor y);  // of one that is on the CPU then, which is an error
Tensor add_to_gpu(Tensor x, std::int64_t y);    // on cuda:0, of whatever
void gpu_take(Tensor x);                        // does nothing with it

// On a stream of its own, which is busy before that; the current one waits for it.
Tensor slow_add_on_user_stream(Tensor x, Tensor y);
// x + y by `dst`, and that + z here.
Tensor nested_slow_add_on_user_stream(std::string dst, Tensor x, Tensor y, Tensor z);
// The first 100 rows of 1000, all elements `i`. The current stream is busy.
Tensor return_tensor_view(std::int64_t i);

// All elements 1, on a stream that the request's does not wait for. Its future is done when it returns, and is answered
// as it is: nothing is made of it before.
Future<rpc::Value> async_cuda_sleep_and_set_to_one(Tensor t);
// x + y by `to`; and that + z on the streams of what follows, which are busy.
Future<Tensor> async_cuda_nested_add(std::string to, Tensor x, Tensor y, Tensor z);

Tensor rref_relay(RRef<Tensor> rref);                             // rref.to_here()
void add_to_local_value(RRef<Tensor> rref, std::int64_t y);       // in place, by its owner
void add_to_local_value_late(RRef<Tensor> rref, std::int64_t y);  // so, after a busy while

// Has members that no wire could take.
class TensorWrapper {
 public:
  explicit TensorWrapper(Tensor tensor);
  ~TensorWrapper() { thread_.join(); }
  TensorWrapper(const TensorWrapper&) = delete;
  TensorWrapper& operator=(const TensorWrapper&) = delete;

  void increase(std::int64_t by);  // in place
  void add(Tensor other);          // so, too
  Tensor sum();
  const Tensor& tensor() const noexcept { return tensor_; }
  void visit_tensors(const future::TensorVisitor& visit) const;

 private:
  const Tensor tensor_;
  mutable std::mutex mutex_;
  Event event_{device::EventOptions{.timing = true}};
  std::thread thread_{[] {}};
};

// For digits of 28 x 28, on that device. forward() keeps the current stream busy before it looks at its input.
class MyConvNetForMNIST {
 public:
  explicit MyConvNetForMNIST(device::Device device);
  // Of a tensor, or, if told so, of a reference to one.
  Tensor forward(rpc::Value x, std::optional<bool> is_rref);

 private:
  const device::Device device_;
  const std::unique_ptr<nn::Module> net_;
};

// A layer, which goes where it is told to.
class LinearObject : public std::enable_shared_from_this<LinearObject> {
 public:
  LinearObject(std::int64_t inputs, std::int64_t outputs) : layer_(inputs, outputs) {}
  std::shared_ptr<LinearObject> to(device::Device device);
  Tensor forward(Tensor input) { return layer_.forward(input); }

 private:
  nn::Linear layer_;
};

}  // namespace distrun::suites

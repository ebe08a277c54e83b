#pragma once
// Functions and classes that ported tests call remotely with GPU tensors, under their original names.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>

namespace distrun::suites {

// Return sums. Throw a ValueError, "Wrong device affinity", if their arguments are not on the test's devices.
Tensor gpu_add(Tensor x, Tensor y);  // two on cuda:1; the sum is on cuda:0
Tensor gpu_add_given_gpus(Tensor x, Tensor y, device::Device x_to, device::Device y_to, device::Device z_to);
std::tuple<Tensor, Tensor> gpu_add_multi_gpu(Tensor x, Tensor y);  // x + y on cuda:0, and x - y on cuda:1
// Takes two CPU tensors; returns their sum, difference, product and quotient, on four devices.
std::tuple<Tensor, Tensor, Tensor, Tensor> gpu_add_return_to_gpu(Tensor x, Tensor y);
std::tuple<Tensor, Tensor, Tensor, Tensor> gpu_four_operations(Tensor x, Tensor y);  // the same, all on cuda:0
Tensor gpu_add_wrong_gpus(Tensor x, Tensor y);  // one of them is on the CPU, which is an error
Tensor add_to_gpu(Tensor x, std::int64_t y);    // on cuda:0, from any device
void gpu_take(Tensor x);                        // does nothing

// Adds on a new stream that is busy before; the current stream waits for it.
Tensor slow_add_on_user_stream(Tensor x, Tensor y);
// `dst` computes x + y; adds z here.
Tensor nested_slow_add_on_user_stream(std::string dst, Tensor x, Tensor y, Tensor z);
// Returns the first 100 rows of 1000, all elements `i`. The current stream is busy.
Tensor return_tensor_view(std::int64_t i);

// Sets all elements to 1 on a stream that the request's does not wait for. The returned future is complete, and is
// answered as it is, with no continuation.
Future<rpc::Value> async_cuda_sleep_and_set_to_one(Tensor t);
// `to` computes x + y; a continuation adds z on its streams, which are busy.
Future<Tensor> async_cuda_nested_add(std::string to, Tensor x, Tensor y, Tensor z);

Tensor rref_relay(RRef<Tensor> rref);                             // rref.to_here()
void add_to_local_value(RRef<Tensor> rref, std::int64_t y);       // in place, on its owner
void add_to_local_value_late(RRef<Tensor> rref, std::int64_t y);  // the same, after a busy period

// Has members that cannot be sent.
class TensorWrapper {
 public:
  explicit TensorWrapper(Tensor tensor);
  ~TensorWrapper() { thread_.join(); }
  TensorWrapper(const TensorWrapper&) = delete;
  TensorWrapper& operator=(const TensorWrapper&) = delete;

  void increase(std::int64_t by);  // in place
  void add(Tensor other);          // in place, too
  Tensor sum();
  const Tensor& tensor() const noexcept { return tensor_; }
  void visit_tensors(const future::TensorVisitor& visit) const;

 private:
  const Tensor tensor_;
  mutable std::mutex mutex_;
  Event event_{device::EventOptions{.timing = true}};
  std::thread thread_{[] {}};
};

// A network for digits of 28 x 28, on that device. forward() keeps the current stream busy before it reads its input.
class MyConvNetForMNIST {
 public:
  explicit MyConvNetForMNIST(device::Device device);
  // `x` is a tensor, or, if `is_rref`, a reference to one.
  Tensor forward(rpc::Value x, std::optional<bool> is_rref);

 private:
  const device::Device device_;
  const std::unique_ptr<nn::Module> net_;
};

// A layer that moves between devices on request.
class LinearObject : public std::enable_shared_from_this<LinearObject> {
 public:
  LinearObject(std::int64_t inputs, std::int64_t outputs) : layer_(inputs, outputs) {}
  std::shared_ptr<LinearObject> to(device::Device device);
  Tensor forward(Tensor input) { return layer_.forward(input); }

 private:
  nn::Linear layer_;
};

}  // namespace distrun::suites

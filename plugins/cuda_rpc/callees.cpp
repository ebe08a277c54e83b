#include "callees.hpp"

#include "support/device_scale.hpp"

namespace distrun::suites {
namespace {

void require_devices(bool are_right) {
  if (!are_right) throw Error(ErrorKind::InvalidArgument, "ValueError", "Wrong device affinity");
}

// Orders later work on `stream` after the current work on `other`.
void wait_stream(Stream stream, Stream other) {
  Event event;
  event.record(other);
  event.block(stream);
}

}  // namespace

Tensor gpu_add(Tensor x, Tensor y) {
  require_devices(x.device() == device::cuda(1) && y.device() == device::cuda(1));
  return to(x + y, device::cuda(0));
}
DISTRUN_RPC(gpu_add, "x", "y")

Tensor gpu_add_given_gpus(Tensor x, Tensor y, device::Device x_to, device::Device y_to, device::Device z_to) {
  require_devices(x.device() == x_to && y.device() == y_to);
  return to(x, z_to) + to(y, z_to);
}
DISTRUN_RPC(gpu_add_given_gpus, "x", "y", "x_to", "y_to", "z_to")

std::tuple<Tensor, Tensor> gpu_add_multi_gpu(Tensor x, Tensor y) {
  require_devices(x.device() == device::cuda(1) && y.device() == device::cuda(0));
  return {to(x, device::cuda(0)) + y, x - to(y, device::cuda(1))};
}
DISTRUN_RPC(gpu_add_multi_gpu, "x", "y")

std::tuple<Tensor, Tensor, Tensor, Tensor> gpu_add_return_to_gpu(Tensor x, Tensor y) {
  require_devices(x.device().is_cpu() && y.device().is_cpu());
  return {to(x + y, device::cuda(0)), to(x - y, device::cuda(1)), to(x * y, device::cuda(2)),
          to(x / y, device::cuda(3))};
}
DISTRUN_RPC(gpu_add_return_to_gpu, "x", "y")

std::tuple<Tensor, Tensor, Tensor, Tensor> gpu_four_operations(Tensor x, Tensor y) {
  require_devices(x.device() == device::cuda(0) && y.device() == device::cuda(0));
  return {x + y, x - y, x * y, x / y};
}
DISTRUN_RPC(gpu_four_operations, "x", "y")

Tensor gpu_add_wrong_gpus(Tensor x, Tensor y) {
  require_devices(!x.device().is_cpu() && !y.device().is_cpu());
  return cpu(x) + cuda(y);
}
DISTRUN_RPC(gpu_add_wrong_gpus, "x", "y")

Tensor add_to_gpu(Tensor x, std::int64_t y) { return to(x + y, device::cuda(0)); }
DISTRUN_RPC(add_to_gpu, "x", "y")

void gpu_take(Tensor) {}
DISTRUN_RPC(gpu_take, "x")

Tensor slow_add_on_user_stream(Tensor x, Tensor y) {
  const Stream current = device::current_stream(x.device());
  const Stream own = device::stream_from_pool(x.device());
  wait_stream(own, current);
  for (const Tensor& each : {x, y}) each.record_stream(own);
  Tensor z;
  {
    const device::StreamGuard guard(own);
    keep_busy(own, kSlowCycles);
    z = x + y;
  }
  wait_stream(current, own);
  z.record_stream(current);
  return z;
}
DISTRUN_RPC(slow_add_on_user_stream, "x", "y")

Tensor nested_slow_add_on_user_stream(std::string dst, Tensor x, Tensor y, Tensor z) {
  const Tensor ret = rpc_sync(dst, slow_add_on_user_stream, x, y);
  return slow_add_on_user_stream(ret, z);
}
DISTRUN_RPC(nested_slow_add_on_user_stream, "dst", "x", "y", "z")

Tensor return_tensor_view(std::int64_t i) {
  const Tensor x = ones({1000, 200}, {.device = device::cuda(0)}) * i;
  keep_busy(device::current_stream(device::cuda(0)), kSlowCycles);
  return split(x, 100).front();
}
DISTRUN_RPC(return_tensor_view, "i")

Future<rpc::Value> async_cuda_sleep_and_set_to_one(Tensor t) {
  const Stream own = device::stream_from_pool(t.device());
  wait_stream(own, device::current_stream(t.device()));
  const device::StreamGuard guard(own);
  keep_busy(own);
  fill_(t, 1);
  const Future<rpc::Value> future({t.device()});
  future.set_result(rpc::to_value(t));
  return future;
}
DISTRUN_RPC_ASYNC(async_cuda_sleep_and_set_to_one, "t")

Future<Tensor> async_cuda_nested_add(std::string to, Tensor x, Tensor y, Tensor z) {
  return rpc_async<Tensor>(to, "add", x, y).then([z](const Future<Tensor>& done) {
    keep_busy(device::current_stream(z.device()));
    return done.value() + z;
  });
}
DISTRUN_RPC_ASYNC(async_cuda_nested_add, "to", "x", "y", "z")

Tensor rref_relay(RRef<Tensor> rref) { return rref.to_here(); }
DISTRUN_RPC(rref_relay, "rref")

void add_to_local_value(RRef<Tensor> rref, std::int64_t y) { add_(rref.local_value(), y); }
DISTRUN_RPC(add_to_local_value, "rref", "y")

void add_to_local_value_late(RRef<Tensor> rref, std::int64_t y) {
  const Tensor value = rref.local_value();
  keep_busy(device::current_stream(value.device()));
  add_(value, y);
}
DISTRUN_RPC(add_to_local_value_late, "rref", "y")

}  // namespace distrun::suites

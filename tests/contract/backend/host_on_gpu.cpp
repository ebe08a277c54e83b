#include "host_on_gpu.hpp"

#include <algorithm>
#include <cstring>

#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

Tensor on_gpu(ConstBytes bytes, device::Device gpu) {
  const Tensor host = tensor::empty({static_cast<std::int64_t>(bytes.size())}, {DType::U8});
  if (!bytes.empty()) std::memcpy(host.data(), bytes.data(), bytes.size());
  return tensor::to(host, gpu);
}

Tensor room_on(device::Device gpu, std::size_t size) {
  return tensor::empty({static_cast<std::int64_t>(size)}, {DType::U8, gpu});
}

void read_back(const Tensor& from, Bytes into) {
  if (into.empty()) return;
  const Tensor host = tensor::to(from, device::kCpu);
  std::memcpy(into.data(), host.data(), into.size());
}

// A point-to-point message on a stream.
class OnStream final : public Transfer {
 public:
  OnStream(std::shared_ptr<StreamWork> work, Tensor tensor, Bytes into, int peer)
      : work_(std::move(work)), tensor_(std::move(tensor)), into_(into), peer_(peer) {}
  int finish(base::TimePoint deadline) override {
    work_->wait(std::max(deadline - base::system_clock().now(), base::Nanoseconds::zero()), base::Location::here());
    read_back(tensor_, into_);
    return peer_;
  }

 private:
  std::shared_ptr<StreamWork> work_;
  Tensor tensor_;
  Bytes into_;  // empty for a send
  int peer_;
};

Call letter_call(CallKind kind, const PointToPoint& message) {
  Call call;
  call.kind = kind;
  call.root = message.peer;
  call.site = message.site;
  call.deadline = base::system_clock().now() + 60s;
  return call;
}

}  // namespace

// Operands that are read and written in place are so on the GPU, too.
void HostOnGpu::run(const Call& call) {
  StreamCall put{call, gpus_.gpu(), {}, {}, false};
  const bool in_place = !call.in.empty() && !call.out.empty() && call.in.front().data() == call.out.front().data() &&
                        !call.in.front().empty();
  TensorList outputs;
  for (ConstBytes& each : put.call.in) {
    put.touched.push_back(on_gpu(each, put.gpu));
    each = {put.touched.back().data(), each.size()};
  }
  for (Bytes& each : put.call.out) {
    outputs.push_back(in_place ? put.touched.front() : room_on(put.gpu, each.size()));
    put.touched.push_back(outputs.back());
    each = {outputs.back().data(), each.size()};
  }
  gpus_.put(std::move(put))->wait(60s, call.site);
  for (std::size_t i = 0; i < outputs.size(); ++i) read_back(outputs[i], call.out[i]);
}

std::unique_ptr<Transfer> HostOnGpu::begin_send(const PointToPoint& message, ConstBytes bytes) {
  StreamCall put{letter_call(CallKind::Send, message), gpus_.gpu(), {on_gpu(bytes, gpus_.gpu())}, {}, true};
  const Tensor sent = put.touched.front();
  put.call.in = {{sent.data(), bytes.size()}};
  return std::make_unique<OnStream>(gpus_.put(std::move(put)), sent, Bytes(), message.peer);
}

std::unique_ptr<Transfer> HostOnGpu::begin_receive(const PointToPoint& message, Bytes bytes) {
  StreamCall put{letter_call(CallKind::Receive, message), gpus_.gpu(), {room_on(gpus_.gpu(), bytes.size())}, {}, true};
  const Tensor got = put.touched.front();
  put.call.out = {{got.data(), bytes.size()}};
  return std::make_unique<OnStream>(gpus_.put(std::move(put)), got, bytes, message.peer);
}

}  // namespace distrun::collectives

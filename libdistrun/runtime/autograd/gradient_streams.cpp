#include <distrun/runtime/autograd/gradient_streams.hpp>

namespace distrun::autograd {

bool has_no_other_stream(const Tensor& gradient) {
  return gradient.impl()->is_used_only_by(device::current_stream(gradient.device()));
}

void order_streams(const Tensor& gradient, Stream reader) {
  if (gradient.device().is_cpu()) return;
  const Stream writer = device::current_stream(gradient.device());
  if (writer == reader) return;
  device::Event written;
  written.record(writer);
  written.block(reader);
  gradient.record_stream(reader);
}

void wait_for_stream(Stream written) {
  const Stream current = device::current_stream(written.device());
  if (current == written) return;
  device::Event done;
  done.record(written);
  done.block(current);
}

void record_reader(const Tensor& gradient) {
  if (gradient.defined()) gradient.record_stream(device::current_stream(gradient.device()));
}

}  // namespace distrun::autograd

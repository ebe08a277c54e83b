#include <distrun/runtime/rpc/message.hpp>

#include <distrun/runtime/rpc/tensor_spans.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::rpc {
namespace {

// As a tensor of bytes, so that it is copied as its device does.
tensor::Ref<tensor::Storage> copy_of(const Span& span) {
  const auto bytes = static_cast<std::int64_t>(span.bytes());
  const Tensor whole(tensor::Ref<tensor::StridedImpl>::first(new tensor::StridedImpl(
      span.storage, tensor::DType::U8, Dims{bytes}, Dims{1}, static_cast<std::int64_t>(span.begin))));
  return tensor::clone(whole).strided().storage();
}

bool is_alone(const TensorList& tensors) { return tensors.size() == 1 && tensors.front().is_contiguous(); }

}  // namespace

const char* name_of(MessageKind kind) noexcept {
  switch (kind) {
    case MessageKind::Call: return "call";
    case MessageKind::Reply: return "reply";
    case MessageKind::Failure: return "failure";
    case MessageKind::Cancel: return "cancel";
    case MessageKind::Control: return "control";
    case MessageKind::Reference: return "reference";
    case MessageKind::Devices: return "devices";
  }
  return "unknown";
}

void copy_tensors(Message& message) {
  if (message.tensors.empty()) return;
  if (is_alone(message.tensors)) {
    message.tensors.front() = tensor::clone(message.tensors.front());
    return;
  }
  const TensorSpans spans = spans_of(message.tensors);
  std::vector<tensor::Ref<tensor::Storage>> copies;
  for (const Span& each : spans.spans) copies.push_back(copy_of(each));
  for (std::size_t i = 0; i < message.tensors.size(); ++i) {
    message.tensors[i] = tensor_in(copies[spans.shapes[i].span], spans.shapes[i]);
  }
}

}  // namespace distrun::rpc

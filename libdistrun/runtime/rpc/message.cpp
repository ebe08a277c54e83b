#include <distrun/runtime/rpc/message.hpp>

#include <algorithm>

#include <distrun/runtime/rpc/tensor_spans.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::rpc {
namespace {

// Copies it as a tensor of bytes, so that its device does the copy.
tensor::Ref<tensor::Storage> copy_of(const Span& span) {
  const auto bytes = static_cast<std::int64_t>(span.bytes());
  const Tensor whole(tensor::Ref<tensor::StridedImpl>::first(new tensor::StridedImpl(
      span.storage, tensor::DType::U8, Dims{bytes}, Dims{1}, static_cast<std::int64_t>(span.begin))));
  return tensor::clone(whole).strided().storage();
}

constexpr std::uint64_t kEmptyBytes = 256;  // of an empty message

std::uint64_t bytes_of(const Tensor& tensor) noexcept {
  if (!tensor.defined()) return 0;
  if (tensor.is_sparse()) {
    const tensor::SparseParts& parts = *static_cast<const tensor::SparseImpl&>(*tensor.impl()).parts;
    return bytes_of(parts.indices) + bytes_of(parts.values);
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.numel()) * tensor::size_of(tensor.dtype());
  return std::min<std::uint64_t>(bytes, tensor.strided().storage()->bytes());  // an expanded one is sent unexpanded
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

std::uint64_t data_bytes_of(const Message& message) noexcept {
  std::uint64_t bytes = message.payload.size();
  for (const Tensor& each : message.tensors) bytes += bytes_of(each);
  return bytes;
}

std::uint64_t bytes_of(const Message& message) noexcept {
  std::uint64_t bytes = kEmptyBytes + data_bytes_of(message);
  for (const Section& each : message.sections) bytes += each.bytes.size();
  return bytes;
}

const Section* find_section(const Message& message, SectionTag tag) noexcept {
  const auto found = std::ranges::find(message.sections, tag, &Section::tag);
  return found == message.sections.end() ? nullptr : &*found;
}

bool is_repeated(const Message& call) noexcept { return find_section(call, SectionTag::Repeated) != nullptr; }

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

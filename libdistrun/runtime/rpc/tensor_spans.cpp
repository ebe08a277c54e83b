#include <distrun/runtime/rpc/tensor_spans.hpp>

#include <algorithm>
#include <unordered_map>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kFew = 8;          // spans that are searched linearly
constexpr std::size_t kTrimFrom = 8192;  // spans below this size are not trimmed
constexpr std::size_t kTrimFactor = 2;   // trimmed if larger than their elements by this factor
constexpr std::size_t kAlignment = 8;    // of a span's beginning, so that it is aligned for any dtype

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Returns the bytes from the first to the last element.
Stretch stretch_of(const tensor::StridedImpl& tensor) {
  const std::size_t element = size_of(tensor.dtype);
  if (tensor.numel == 0) return {};
  std::int64_t first = tensor.offset, last = tensor.offset;
  if (tensor.contiguous) {
    last += tensor.numel - 1;
  } else {
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
      const std::int64_t reach = (tensor.sizes[i] - 1) * tensor.strides[i];
      (reach < 0 ? first : last) += reach;
    }
  }
  return {static_cast<std::size_t>(first) * element / kAlignment * kAlignment,
          (static_cast<std::size_t>(last) + 1) * element};
}

bool is_worth_trimming(const tensor::StridedImpl& tensor, const Stretch& stretch) {
  const std::size_t bytes = stretch.end - stretch.begin;
  const std::size_t elements = static_cast<std::size_t>(tensor.numel) * size_of(tensor.dtype);
  return bytes >= kTrimFrom && bytes >= kTrimFactor * elements;
}

class Planner {
 public:
  Planner(const TensorList& tensors, TensorSpans& made) : tensors_(tensors), made_(made) {}

  void add(const Tensor& tensor) {
    const tensor::StridedImpl& strided = tensor.strided();
    const Stretch stretch = stretch_of(strided);
    if (!strided.contiguous && is_worth_trimming(strided, stretch) && !is_shared(strided.storage())) {
      return add(tensor::clone(tensor));
    }
    made_.shapes.push_back({strided.dtype, strided.contiguous, join(strided.storage(), stretch), strided.offset,
                            strided.sizes, strided.contiguous ? Dims() : strided.strides});
  }

  // The spans are final now: computes offsets relative to them.
  void finish() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      TensorShape& shape = made_.shapes[i];
      const Span& span = made_.spans[shape.span];
      const std::size_t element = size_of(shape.dtype);
      const auto elements = static_cast<std::size_t>(tensors_[i].numel());
      shape.offset = elements == 0 ? 0 : shape.offset - static_cast<std::int64_t>(span.begin / element);
      if (!shape.contiguous || (shape.offset == 0 && elements * element == span.bytes())) continue;
      shape.contiguous = false;
      shape.strides = tensor::Shape(shape.sizes).strides;
    }
  }

 private:
  // Returns whether another tensor of the message uses the storage: both must still share it.
  bool is_shared(const tensor::Ref<tensor::Storage>& storage) {
    if (users_.empty()) {
      for (const Tensor& each : tensors_) ++users_[each.strided().storage().get()];
    }
    return users_.at(storage.get()) > 1;
  }

  std::uint32_t join(const tensor::Ref<tensor::Storage>& storage, const Stretch& stretch) {
    const std::uint32_t number = number_of(storage);
    Span& span = made_.spans[number];
    if (span.end == span.begin) {
      span.begin = stretch.begin, span.end = stretch.end;
    } else if (stretch.end != stretch.begin) {
      span.begin = std::min(span.begin, stretch.begin), span.end = std::max(span.end, stretch.end);
    }
    return number;
  }

  std::uint32_t number_of(const tensor::Ref<tensor::Storage>& storage) {
    const auto next = static_cast<std::uint32_t>(made_.spans.size());
    if (next < kFew) {
      for (std::uint32_t i = 0; i < next; ++i) {
        if (made_.spans[i].storage == storage) return i;
      }
    } else {
      for (auto i = static_cast<std::uint32_t>(numbers_.size()); i < next; ++i)
        numbers_.emplace(made_.spans[i].storage.get(), i);
      const auto known = numbers_.find(storage.get());
      if (known != numbers_.end()) return known->second;
    }
    made_.spans.push_back({storage, 0, 0});
    return next;
  }

  const TensorList& tensors_;
  TensorSpans& made_;
  std::unordered_map<const void*, std::uint32_t> numbers_;  // by storage, once there are many
  std::unordered_map<const void*, std::uint32_t> users_;    // by storage, created on first use
};

}  // namespace

TensorSpans spans_of(const TensorList& tensors) {
  TensorSpans made;
  Planner planner(tensors, made);
  for (const Tensor& each : tensors) planner.add(each);
  planner.finish();
  return made;
}

Tensor tensor_in(const tensor::Ref<tensor::Storage>& storage, const TensorShape& shape) {
  tensor::Shape whole(shape.sizes);  // refuses invalid sizes
  if (shape.contiguous) {
    if (static_cast<std::size_t>(whole.numel) > storage->bytes() / size_of(shape.dtype)) {
      throw Error(ErrorKind::InvalidArgument, "a tensor of a message reaches beyond its bytes");
    }
    return Tensor(
        tensor::Ref<tensor::StridedImpl>::first(new tensor::StridedImpl(storage, shape.dtype, std::move(whole))));
  }
  return Tensor(tensor::Ref<tensor::StridedImpl>::first(
      new tensor::StridedImpl(storage, shape.dtype, shape.sizes, shape.strides, shape.offset)));
}

}  // namespace distrun::rpc

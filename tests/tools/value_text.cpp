#include "value_text.hpp"

#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tools {
namespace {

using Int = std::int64_t;

// Returns an empty optional unless the whole word is a number.
template <class T>
std::optional<T> number_in(std::string_view word) {
  T number{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

template <class T>
T number_of(std::string_view word) {
  const std::optional<T> number = number_in<T>(word);
  if (!number) throw Error(ErrorKind::InvalidArgument, "no number: " + std::string(word));
  return *number;
}

// Splits at the commas, without the enclosing brackets.
Words parts_of(const std::string& word) {
  Words parts;
  std::istringstream in(word.substr(1, word.size() - 2));
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

const Value& named(const std::string& name, const Names& names) {
  const auto found = names.find(name);
  if (found == names.end()) throw Error(ErrorKind::InvalidArgument, "nothing has the name " + name);
  return found->second;
}

TensorList read_tensors(const std::string& word, const Names& names) {
  TensorList tensors;
  for (const std::string& name : parts_of(word)) {
    const Tensor* const tensor = std::get_if<Tensor>(&named(name, names));
    if (tensor == nullptr) throw Error(ErrorKind::InvalidArgument, "not a tensor: " + name);
    tensors.push_back(*tensor);
  }
  return tensors;
}

template <class T>
T read_element(std::string_view word) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number_of<double>(word));
  } else {
    return static_cast<T>(number_of<Int>(word));
  }
}

template <class T>
std::string element_text(T element) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, element).ptr);
  } else {
    return std::to_string(element);
  }
}

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const Int size : dims) text += (text.empty() ? "" : ",") + std::to_string(size);
  return "[" + text + "]";
}

std::string layout_text(const Tensor& tensor) {
  if (!tensor.is_sparse()) return "strided";
  const char* const kind = tensor::is_coalesced(tensor) ? "coalesced/" : "sparse/";
  return kind + std::to_string(tensor::sparse_dim(tensor)) + "/" + std::to_string(tensor::nnz(tensor));
}

std::string elements_text(const Tensor& tensor) {
  const Tensor dense = tensor.is_sparse() ? tensor::to_dense(tensor) : tensor;
  const Tensor here = tensor::contiguous(tensor::to(dense, device::kCpu));
  std::string text;
  tensor::visit(here.dtype(), [&](auto zero) {
    for (Int i = 0; i < here.numel(); ++i) {
      auto element = zero;
      std::memcpy(&element, here.data() + static_cast<std::size_t>(i) * sizeof element, sizeof element);
      text += " " + element_text(element);
    }
  });
  return text;
}

std::string tensor_text(const Tensor& tensor) {
  if (!tensor.defined()) return "none";
  return std::string(name_of(tensor.dtype())) + " " + dims_text(tensor.sizes()) + " " + layout_text(tensor) +
         (requires_grad(tensor) ? " grad :" : " - :") + elements_text(tensor);
}

}  // namespace

Words words_of(const std::string& line) {
  std::istringstream in(line);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Value read_value(const std::string& word, const Names& names) {
  switch (word.front()) {
    case '"': return word.substr(1, word.size() - 2);
    case '[': return read_dims(word).to_vector();
    case '(': return read_tensors(word, names);
    default: break;
  }
  if (word == "none") return std::monostate();
  if (word == "true" || word == "false") return word == "true";
  if (const std::optional<Int> whole = number_in<Int>(word)) return *whole;
  if (const std::optional<double> floating = number_in<double>(word)) return *floating;
  return named(word, names);
}

Dims read_dims(const std::string& word) {
  Dims dims;
  for (const std::string& part : parts_of(word)) dims.push_back(number_of<Int>(part));
  return dims;
}

Tensor read_elements(const std::string& dtype, const Words& words, std::size_t first) {
  const tensor::DType type = tensor::parse_dtype(dtype);
  std::vector<std::byte> bytes;
  tensor::visit(type, [&](auto zero) {
    for (std::size_t i = first; i < words.size(); ++i) {
      const auto element = read_element<decltype(zero)>(words[i]);
      const auto* const begin = reinterpret_cast<const std::byte*>(&element);
      bytes.insert(bytes.end(), begin, begin + sizeof element);
    }
  });
  return tensor::from_data(bytes.data(), {static_cast<Int>(words.size() - first)}, {type, device::kCpu});
}

std::string text_of(const Value& value) {
  switch (kind_of(value)) {
    case tensor::ValueKind::None: return "none";
    case tensor::ValueKind::Tensor: return tensor_text(std::get<Tensor>(value));
    case tensor::ValueKind::Bool: return std::get<bool>(value) ? "bool true" : "bool false";
    case tensor::ValueKind::Int: return "int " + std::to_string(std::get<Int>(value));
    case tensor::ValueKind::Float: return "float " + element_text(std::get<double>(value));
    case tensor::ValueKind::String: return "str " + std::get<std::string>(value);
    case tensor::ValueKind::Tensors: return "tensors " + std::to_string(std::get<TensorList>(value).size());
    case tensor::ValueKind::Ints: return "ints " + dims_text(Dims(std::get<tensor::IntList>(value)));
  }
  return "none";
}

}  // namespace distrun::tools

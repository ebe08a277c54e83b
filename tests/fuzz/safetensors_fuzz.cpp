// A file of tensors: read or refused. A file that was read, written again, reads the same, to the bit. For any
// header, the tensors have no more bytes than the file.
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/io/safetensors.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor::size_of(tensor.dtype());
}

bool are_same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         (a.numel() == 0 || std::memcmp(a.data(), b.data(), bytes_of(a)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tensor::Safetensors file;
  try {
    file = tensor::decode_safetensors(std::as_bytes(std::span(data, size)));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    return 0;
  }
  std::size_t bytes = 0;
  for (const auto& [name, each] : file.tensors) bytes += bytes_of(each);
  require(bytes + 10 <= size, "the tensors are in the file, behind its header");
  const tensor::Safetensors again = tensor::decode_safetensors(tensor::encode_safetensors(file.tensors, file.metadata));
  require(again.metadata == file.metadata && again.tensors.size() == file.tensors.size(), "what is written is all");
  for (const auto& [name, each] : file.tensors) {
    const Tensor* const found = tensor::find_named(again.tensors, name);
    require(found != nullptr && are_same(each, *found), "what is written is read as it was");
  }
  return 0;
}

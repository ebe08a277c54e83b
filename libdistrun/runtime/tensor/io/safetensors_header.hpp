#pragma once
// The header of a safetensors file: JSON restricted to what the format defines.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::tensor {

// A tensor's entry in the header. Offsets are in bytes.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::F32;
  Dims sizes;
  std::uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  Metadata metadata;
};

// Returns entries in the order of their bytes; together they fill the `data_bytes` after the header without gaps.
// Throws Error{InvalidArgument} for anything else.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes);
// Returns the entries in the given order, without padding. Throws Error{InvalidArgument} for a duplicate or reserved
// name, and for text that is not UTF-8.
std::string safetensors_header_text(const SafetensorsHeader& header);

// Throws Error{InvalidArgument} 'tensor "w": text'. Names may be untrusted and are escaped.
[[noreturn]] void refuse_tensor(const std::string& name, const std::string& text);

}  // namespace distrun::tensor

#pragma once
// The header of a safetensors file: JSON, of which only the format's own is taken.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::tensor {

// What the header says of one tensor. Offsets are in bytes.
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

// Entries come in the order of their bytes; together they are the `data_bytes` behind the header, without holes. Throws
// Error{InvalidArgument} for anything else.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes);
// In the order given, without anything behind. Throws Error{InvalidArgument} for a name that stands twice or is the
// format's own, and for text that is not UTF-8.
std::string safetensors_header_text(const SafetensorsHeader& header);

// Throws Error{InvalidArgument}: tensor "w": and what is wrong with it. Names may come from anywhere, and are made safe
// to show.
[[noreturn]] void refuse_tensor(const std::string& name, const std::string& text);

}  // namespace distrun::tensor

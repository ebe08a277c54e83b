#pragma once
// Files of the format safetensors, by which programs of any language exchange tensors, and which can hold nothing that
// is run:
//
//   8 bytes    the length of the header, little-endian
//   header     JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//              "__metadata__": {"key": "text"}}, with spaces behind it, so that what comes next lies at a multiple of 8
//   the rest   the elements, row by row, one tensor after the other; offsets count from here
//
// Dtypes are BOOL, U8, I8, I16, I32, I64, F32 and F64. A file may come from anywhere: whatever is in it, it is read as
// a whole or refused, and no more memory is taken than it has bytes, but for what its names need.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::tensor {

struct Safetensors {
  NamedTensors tensors;  // in the order of their bytes
  Metadata metadata;
};

// Larger headers are refused, as by other programs.
inline constexpr std::size_t kSafetensorsHeaderMost = 100'000'000;

// Tensors of any device and strides; waits for the devices. Those of larger elements come first, else they stand as
// given: so all lie at multiples of their elements' size. The file is there as a whole or not at all, also after a loss
// of power: until then `path` has what it had. Throws Error{InvalidArgument}, before there is any file, for tensors
// that are undefined or sparse, for names that stand twice, and for text that is not UTF-8; Error{Failed} "cannot write
// PATH: why".
void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
// On the CPU, contiguous. Throws Error{Failed} if the file can't be read, and Error{InvalidArgument}, with the file,
// the tensor and the value, for anything that is not as above.
Safetensors load_safetensors(const std::string& path);

// The same in memory.
std::vector<std::byte> encode_safetensors(const NamedTensors& tensors, const Metadata& metadata = {});
Safetensors decode_safetensors(std::span<const std::byte> bytes);

}  // namespace distrun::tensor

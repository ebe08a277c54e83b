#pragma once
// Files of the format safetensors, with which programs of any language exchange tensors, and which cannot hold
// executable code:
//
//   8 bytes    the length of the header, little-endian
//   header     JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//              "__metadata__": {"key": "text"}}, padded with spaces so that the elements start at a multiple of 8
//   the rest   the elements, row by row, one tensor after the other; offsets count from here
//
// Dtypes are BOOL, U8, I8, I16, I32, I64, F32 and F64. A file may come from an untrusted source: it is read as a whole
// or rejected, and apart from its names it uses no more memory than it has bytes.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::tensor {

// The contents of a file.
struct Safetensors {
  NamedTensors tensors;  // in the order of their bytes
  Metadata metadata;     // empty if the file has none
};

// Larger headers are rejected, as by other programs.
inline constexpr std::size_t kSafetensorsHeaderMost = 100'000'000;

// Saves tensors of any device and strides; waits for the devices. Tensors with larger elements come first, otherwise in
// the given order: so each lies at a multiple of its element size. The file is replaced atomically, also if power is
// lost: until then `path` keeps its content. Throws Error{InvalidArgument}, before creating a file, for undefined or
// sparse tensors, duplicate names, and text that is not UTF-8; Error{Failed} "cannot write PATH: why".
void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
// Loads contiguous CPU tensors. Throws Error{Failed} if the file cannot be read, and Error{InvalidArgument}, with the
// file, the tensor and the value, if it violates the format.
Safetensors load_safetensors(const std::string& path);

// Like save_safetensors(), in memory.
std::vector<std::byte> encode_safetensors(const NamedTensors& tensors, const Metadata& metadata = {});
// Like load_safetensors(), from memory; copies the bytes.
Safetensors decode_safetensors(std::span<const std::byte> bytes);

}  // namespace distrun::tensor

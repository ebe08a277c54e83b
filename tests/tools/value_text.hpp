#pragma once
// Values as words of text, for programs that arrive as lines (run_tensor_program.cpp).
#include <map>
#include <string>
#include <vector>

#include <distrun/runtime/tensor/core/value.hpp>

namespace distrun::tools {

using tensor::Value;
using Names = std::map<std::string, Value>;
using Words = std::vector<std::string>;

Words words_of(const std::string& line);

// Reads 2, 0.5, nan, true, none, "text", [2,3], (a,b) for tensors of these names, or a name. Throws
// Error{InvalidArgument} for an unknown name.
Value read_value(const std::string& word, const Names& names);
// Reads [2,3].
Dims read_dims(const std::string& word);
// Returns elements of that dtype on the CPU, one for each word from `first` on.
Tensor read_elements(const std::string& dtype, const Words& words, std::size_t first);

// Returns "float32 [2,3] strided grad : 1 2 3 4 5 0.5", with `-` in place of `grad` if it requires none; for a sparse
// tensor "sparse/DIMS/ENTRIES" or "coalesced/...", and all its elements; "int 3"; "tensors 2". Floating-point numbers
// have the shortest text that reads back as the same number.
std::string text_of(const Value& value);

}  // namespace distrun::tools

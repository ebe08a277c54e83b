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

// 2, 0.5, nan, true, none, "text", [2,3], (a,b) for tensors of these names, else what has that name. Throws
// Error{InvalidArgument} for a name that nothing has.
Value read_value(const std::string& word, const Names& names);
// [2,3]
Dims read_dims(const std::string& word);
// Elements of that dtype on the CPU, one for each word from `first` on.
Tensor read_elements(const std::string& dtype, const Words& words, std::size_t first);

// "float32 [2,3] strided grad : 1 2 3 4 5 0.5", with `-` in the place of `grad` if it requires none; of a sparse tensor
// "sparse/DIMS/ENTRIES", or "coalesced/...", and all its elements. "int 3", "tensors 2". Floating numbers are the
// shortest text that is read back as the same number.
std::string text_of(const Value& value);

}  // namespace distrun::tools

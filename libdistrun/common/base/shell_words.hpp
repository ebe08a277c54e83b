#pragma once
// Splits and fills in commands that users type as one word: --wrap 'strace -f -o {work_dir}/trace'.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Splits text into words like a POSIX shell: at spaces, outside of '...' and "..."; `\` takes the next character
// literally. Expands nothing. Throws Error{InvalidArgument} with the text if a quote is not closed.
std::vector<std::string> shell_words(std::string_view text);

// Replaces each occurrence of `what`, which must not be empty.
void replace_all(std::string& text, std::string_view what, std::string_view by);

}  // namespace distrun::base

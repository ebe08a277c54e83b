#pragma once
#include <string>

namespace distrun::cli {

// What is in a summary's file, unread. Throws Error{InvalidArgument} if there is no such file, or if it is larger than
// any summary should be.
std::string summary_text(const std::string& path);

}  // namespace distrun::cli

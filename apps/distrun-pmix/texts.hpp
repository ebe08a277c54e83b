#pragma once
// Lists of texts as libpmix passes them.
#include <string>
#include <vector>

namespace distrun::pmix {

// `texts` ends with a null pointer, or is null.
inline std::vector<std::string> texts_of(char** texts) {
  std::vector<std::string> copies;
  for (char** each = texts; each != nullptr && *each != nullptr; ++each) copies.emplace_back(*each);
  return copies;
}

}  // namespace distrun::pmix

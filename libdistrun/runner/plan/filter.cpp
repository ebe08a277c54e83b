#include <distrun/runner/plan/filter.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

[[noreturn]] void refuse(std::string_view pattern, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "--filter '" + base::one_line(pattern) + "': " + why);
}

bool ends_in_open_escape(std::string_view pattern) {
  std::size_t backslashes = 0;
  while (backslashes < pattern.size() && pattern[pattern.size() - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& suite, const std::string& id) {
  const std::string_view without_parameters = std::string_view(id).substr(0, id.find('/'));
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return base::glob_match(pattern, id) || base::glob_match(pattern, without_parameters) ||
           base::glob_match(pattern, suite);
  });
}

}  // namespace

Filter::Filter(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (end > at) add(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
  }
}

void Filter::add(std::string_view pattern) {
  if (ends_in_open_escape(pattern))
    refuse(pattern, "a '\\' at the end escapes nothing; write '\\\\' for the character");
  if (pattern.front() != '-') {
    including_.emplace_back(pattern);
    return;
  }
  if (pattern.size() == 1) refuse(pattern, "a '-' needs a pattern to exclude after it, as in -Slow.*");
  excluding_.emplace_back(pattern.substr(1));
}

bool Filter::selects(const std::string& suite, const std::string& id) const {
  if (matches_any(excluding_, suite, id)) return false;
  return including_.empty() || matches_any(including_, suite, id);
}

}  // namespace distrun::runner

#include <distrun/runner/plan/filter.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kHintsMax = 3;

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

// A text that the user may have meant, and the pattern that selects it.
struct Meant {
  std::string typed;
  std::string pattern;
};

std::vector<Meant> all_meant(const std::vector<std::string>& ids) {
  std::vector<Meant> all;
  for (const std::string& id : ids) {
    const std::string plain = id.substr(0, id.find('/'));
    const std::size_t dot = plain.find('.');
    all.push_back({plain, plain});
    if (dot == std::string::npos) continue;
    all.push_back({plain.substr(0, dot), plain.substr(0, dot) + ".*"});
    all.push_back({plain.substr(dot + 1), plain});
  }
  return all;
}

// Removes the special characters of a glob.
std::string letters_of(std::string pattern) {
  std::erase_if(pattern, [](char each) { return each == '*' || each == '?' || each == '\\'; });
  if (pattern.starts_with('.')) pattern.erase(0, 1);
  if (pattern.ends_with('.')) pattern.pop_back();
  return pattern;
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
  if (ends_in_open_escape(pattern)) refuse(pattern, "a '\\' at the end escapes nothing; write '\\\\' for a backslash");
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

std::string Filter::hint(const std::vector<std::string>& ids) const {
  const std::vector<Meant> all = all_meant(ids);
  std::vector<std::string> names;
  for (const Meant& each : all) names.push_back(each.typed);
  for (const std::string& pattern : including_) {
    const std::string word = letters_of(pattern);
    std::vector<std::string> found;
    const auto add = [&](const std::string& name) {
      for (const Meant& each : all) {
        const bool is_new = std::find(found.begin(), found.end(), each.pattern) == found.end();
        if (each.typed == name && is_new && found.size() < kHintsMax) found.push_back(each.pattern);
      }
    };
    add(word);
    if (found.empty()) std::ranges::for_each(base::nearest(word, names), add);
    if (!found.empty()) return "; did you mean " + base::joined_by_or(found) + "?";
  }
  return "";
}

}  // namespace distrun::runner

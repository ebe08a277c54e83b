#include <distrun/runner/plan/filter.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kHintsMax = 3;

// A text that the user may have meant, and the pattern that selects it.
struct Meant {
  std::string typed;
  std::string pattern;
};

std::vector<Meant> all_meant(const std::vector<std::string>& ids) {
  std::vector<Meant> all;
  for (const std::string& id : ids) {
    const std::string plain = id.substr(0, id.find_first_of("/ "));
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

std::string hint_for(const std::string& pattern, const std::vector<Meant>& all) {
  const std::string word = letters_of(pattern);
  std::vector<std::string> names;
  for (const Meant& each : all) names.push_back(each.typed);
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    for (const Meant& each : all) {
      const bool is_new = std::find(found.begin(), found.end(), each.pattern) == found.end();
      if (each.typed == name && is_new && found.size() < kHintsMax) found.push_back(each.pattern);
    }
  };
  add(word);
  if (found.empty()) std::ranges::for_each(base::nearest(word, names), add);
  return found.empty() ? "" : "; did you mean " + base::joined_by_or(found) + "?";
}

}  // namespace

Filter::Filter(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) add(text);
}

void Filter::add(std::string_view text) {
  const std::string_view whole = text;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  while (!text.empty()) {
    const bool excludes = text.starts_with('-');
    if (excludes) text.remove_prefix(1);
    if (excludes && (text.empty() || text.starts_with(' '))) {
      throw Error(ErrorKind::InvalidArgument,
                  "--filter '" + base::one_line(whole) + "': a '-' needs a pattern to exclude after it, as in -Slow.*");
    }
    (excludes ? excluding_ : including_).emplace_back(text);
  }
}

bool Filter::selects(const FilterSubject& subject) const {
  const auto matches = [&](const FilterExpression& each) { return each.selects(subject); };
  if (std::any_of(excluding_.begin(), excluding_.end(), matches)) return false;
  return including_.empty() || std::any_of(including_.begin(), including_.end(), matches);
}

bool Filter::needs_table() const {
  const auto needs = [](const FilterExpression& each) { return each.needs_table(); };
  return std::any_of(including_.begin(), including_.end(), needs) ||
         std::any_of(excluding_.begin(), excluding_.end(), needs);
}

std::string Filter::hint(const std::vector<std::string>& ids) const {
  const std::vector<Meant> all = all_meant(ids);
  for (const FilterExpression& each : including_) {
    for (const std::string& pattern : each.names()) {
      const std::string found = hint_for(pattern, all);
      if (!found.empty()) return found;
    }
  }
  return "";
}

}  // namespace distrun::runner

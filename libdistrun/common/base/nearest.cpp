#include <distrun/common/base/nearest.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace distrun::base {
namespace {

constexpr std::size_t kLengthMax = 100;  // longer names are no typing errors, and the cost is quadratic in the length
constexpr std::size_t kNamesMax = 3;

// Counts insertions, deletions, substitutions and swaps of adjacent letters that turn `one` into `other`.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> two_above, above(other.size() + 1), row(other.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t changed = above[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({changed, row[j - 1] + 1, above[j] + 1});
      const bool is_swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (is_swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
    two_above = std::exchange(above, row);
  }
  return above.back();
}

std::string without_digits(std::string_view name) {
  std::string rest(name);
  std::erase_if(rest, [](char each) { return each >= '0' && each <= '9'; });
  return rest;
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string> found;
  if (word.size() < 2 || word.size() > kLengthMax) return found;  // every letter is near any other
  const std::string letters = without_digits(word);
  std::size_t least = std::max<std::size_t>(1, word.size() / 3);  // names further away are unrelated
  for (const std::string& name : known) {
    if (name.size() > word.size() + least || word.size() > name.size() + least) continue;
    const std::size_t far = distance(word, name);
    if (far > least || without_digits(name) == letters) continue;
    if (far < least) found.clear();
    least = far;
    const bool is_new = std::find(found.begin(), found.end(), name) == found.end();
    if (is_new && found.size() < kNamesMax) found.push_back(name);
  }
  return found;
}

std::string joined_by_or(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string> found = nearest(word, known);
  return found.empty() ? "" : "; did you mean " + joined_by_or(found) + "?";
}

}  // namespace distrun::base

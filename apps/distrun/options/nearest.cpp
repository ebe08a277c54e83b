#include "nearest.hpp"

#include <algorithm>
#include <numeric>

namespace distrun::cli {
namespace {

constexpr std::size_t kLengthMax = 64;  // names are shorter, and the distance takes the square of it

// How many letters must be put in, left out or changed to make one of the other.
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t changed = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLengthMax) return "";
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;  // further away is something else
  for (const std::string& name : known) {
    const std::size_t found = distance(word, name);
    if (found >= least) continue;
    least = found;
    best = name;
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string found = nearest(word, known);
  return found.empty() ? "" : "; did you mean " + found + "?";
}

}  // namespace distrun::cli

#include <distrun/common/base/worst_elements.hpp>

#include <algorithm>
#include <cmath>

#include <distrun/common/base/decompose.hpp>

namespace distrun::base {

void WorstElements::add(std::size_t index, long double distance) {
  ++count_;
  const auto is_worse = [](long double a, long double b) { return std::isnan(a) ? !std::isnan(b) : a > b; };
  const auto place = std::find_if(worst_.begin(), worst_.end(),
                                  [&](const Element& each) { return is_worse(distance, each.distance); });
  worst_.insert(place, {index, distance});
  if (worst_.size() > kKept) worst_.pop_back();
}

std::string WorstElements::text(std::size_t total, double relative, double absolute,
                                const std::vector<std::string>& elements) const {
  std::string text = std::to_string(count_) + " of " + std::to_string(total) + " elements differ by more than " +
                     shortest(absolute) + " + " + shortest(relative) + " |expected|";
  text += count_ > worst_.size() ? ", the worst:" : ":";
  for (std::size_t i = 0; i < worst_.size(); ++i) {
    text += "\n    " + elements[i] + " (differs by " + shortest(static_cast<double>(worst_[i].distance)) + ")";
  }
  return text;
}

}  // namespace distrun::base

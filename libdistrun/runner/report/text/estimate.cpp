#include <distrun/runner/report/text/estimate.hpp>

#include <algorithm>
#include <cstdint>

namespace distrun::report {
namespace {

constexpr base::Nanoseconds kTold = std::chrono::seconds(5);  // less is not worth a word

std::int64_t up_to(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

void Estimate::expect(const std::string& id, std::optional<base::Nanoseconds> usual) {
  ++expected_;
  if (!usual) {
    ++unknown_waiting_;
    return;
  }
  usual_[id] = *usual;
  usual_sum_ += *usual;
  waiting_ += *usual;
}

// An unknown test counts as long as the others on average.
base::Nanoseconds Estimate::usual_of(const std::string& id) const {
  const auto known = usual_.find(id);
  if (known != usual_.end()) return known->second;
  return usual_.empty() ? base::Nanoseconds{} : usual_sum_ / static_cast<std::int64_t>(usual_.size());
}

void Estimate::started(const std::string& id) {
  const auto known = usual_.find(id);
  if (known != usual_.end()) {
    waiting_ -= known->second;
  } else if (unknown_waiting_ > 0) {
    --unknown_waiting_;
  }
}

base::Nanoseconds Estimate::left_of(const std::string& id, base::Nanoseconds age) const {
  return std::max(base::Nanoseconds{}, usual_of(id) - age);
}

std::optional<base::Nanoseconds> Estimate::left(base::Nanoseconds running, base::Nanoseconds longest) const {
  if (usual_.empty() || 2 * usual_.size() < expected_) return std::nullopt;
  const base::Nanoseconds unknown = usual_of("") * static_cast<std::int64_t>(unknown_waiting_);
  return std::max(longest, (waiting_ + unknown + running) / std::max(jobs_, 1));
}

std::string left_text(base::Nanoseconds left) {
  if (left < kTold) return "";
  const std::int64_t seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  if (seconds <= 60) return "about " + std::to_string(up_to(seconds, 5)) + " s left";
  const std::int64_t minutes = up_to(seconds, 60) / 60;
  if (minutes < 60) return "about " + std::to_string(minutes) + " min left";
  return "about " + std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min left";
}

}  // namespace distrun::report

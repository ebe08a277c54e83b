#include <distrun/runtime/device/drivers/virtual/access_log.hpp>

#include <bit>
#include <limits>

namespace distrun::device::virtual_gpu {
namespace {

std::size_t level_of(const Lattice& bytes) noexcept {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes.end - bytes.begin - 1)));
}

// Work that is not ordered after `fresh` is not ordered after `earlier` either, or is reported for `fresh`.
bool stands_for(const AccessRecord& fresh, const AccessRecord& earlier) noexcept {
  return (fresh.writes || !earlier.writes) && covers(fresh.bytes, earlier.bytes);
}

}  // namespace

template <class Visit>
void AccessLog::visit(std::int64_t begin, std::int64_t end, const Visit& visit) {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    Level& level = levels_[i];
    if (level.empty()) continue;
    const std::int64_t reach = std::int64_t{1} << std::min<std::size_t>(i, 62);
    const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    auto access = level.lower_bound(begin < lowest + reach ? lowest : begin - reach);
    while (access != level.end() && access->first < end) {
      const bool keep = access->second.bytes.end <= begin || visit(access->second);
      access = keep ? std::next(access) : level.erase(access);
      size_ -= !keep;
    }
  }
}

void AccessLog::add(const AccessRecord& fresh, const VectorClock& now,
                    const std::function<void(const AccessRecord&)>& unordered) {
  visit(fresh.bytes.begin, fresh.bytes.end, [&](const AccessRecord& earlier) {
    if (is_ordered(earlier, now)) return !stands_for(fresh, earlier);
    if ((fresh.writes || earlier.writes) && overlap(fresh.bytes, earlier.bytes)) unordered(earlier);
    return true;
  });
  levels_[level_of(fresh.bytes)].emplace(fresh.bytes.begin, fresh);
  ++size_;
}

void AccessLog::forget(std::int64_t begin, std::int64_t end, const VectorClock& known) {
  visit(begin, end, [&](const AccessRecord& access) { return !is_ordered(access, known); });
}

void AccessLog::forget_all(const VectorClock& known) {
  forget(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), known);
}

}  // namespace distrun::device::virtual_gpu

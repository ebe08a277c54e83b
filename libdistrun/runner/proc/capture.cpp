#include <distrun/runner/proc/capture.hpp>

#include <algorithm>

namespace distrun::proc {

Capture::Capture(std::size_t cap) : head_max_(cap / 4), tail_max_(cap - cap / 4) {}

void Capture::append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t to_head = std::min(bytes.size(), head_max_ - head_.size());
  head_ += bytes.substr(0, to_head);
  bytes.remove_prefix(to_head);
  if (bytes.size() > tail_max_) bytes.remove_prefix(bytes.size() - tail_max_);
  tail_ += bytes;
  if (tail_.size() > 2 * tail_max_) tail_.erase(0, tail_.size() - tail_max_);
}

std::uint64_t Capture::dropped() const noexcept {
  const std::size_t kept = head_.size() + std::min(tail_.size(), tail_max_);
  return total_ - kept;
}

std::string Capture::text() const {
  const std::string_view end = std::string_view(tail_).substr(tail_.size() - std::min(tail_.size(), tail_max_));
  if (dropped() == 0) return head_ + std::string(end);
  return head_ + "\n[distrun: " + std::to_string(dropped()) + " bytes left out here]\n" + std::string(end);
}

}  // namespace distrun::proc

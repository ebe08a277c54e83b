#include <distrun/runtime/collectives/shm/layout.hpp>

#include <algorithm>
#include <cstring>

namespace distrun::collectives::shm {
namespace {

constexpr std::size_t kPage = 4096;

constexpr std::size_t up_to_page(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

void Seat::show_end(Presence how, const std::string& text) noexcept {
  const std::size_t size = std::min(text.size(), why.size() - 1);
  std::memcpy(why.data(), text.data(), size);
  why[size] = '\0';
  presence = how;
}

Layout::Layout(int ranks) noexcept : ranks_(ranks) {
  const std::size_t n = index(ranks);
  seats_ = up_to_page(sizeof(AreaHead));
  parts_ = up_to_page(seats_ + n * sizeof(Seat));
  rooms_ = up_to_page(parts_ + n * kSlots * n * sizeof(Part));
  boxes_ = up_to_page(rooms_ + n * kSlots * kRoom);
  size_ = up_to_page(boxes_ + n * n * sizeof(MailBox));
}

}  // namespace distrun::collectives::shm

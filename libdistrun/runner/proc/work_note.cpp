#include <distrun/runner/proc/work_note.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace distrun::proc {

WorkNote::WorkNote() {
  void* page = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) page_ = static_cast<Page*>(page);  // all zero: an empty note
}

WorkNote::~WorkNote() {
  if (page_ != nullptr) ::munmap(page_, sizeof(Page));
}

void WorkNote::write(std::string_view text) noexcept {
  if (page_ == nullptr) return;
  const std::uint32_t next = 1 - page_->current.load(std::memory_order_relaxed) % 2;
  auto& into = page_->texts[next];
  into.size = static_cast<std::uint32_t>(std::min(text.size(), kTextMax));
  std::memcpy(into.bytes, text.data(), into.size);
  page_->current.store(next, std::memory_order_release);
}

std::string WorkNote::read() const {
  if (page_ == nullptr) return "";
  const auto& from = page_->texts[page_->current.load(std::memory_order_acquire) % 2];
  return {from.bytes, std::min<std::size_t>(from.size, kTextMax)};
}

}  // namespace distrun::proc

#include "process_memory.hpp"

#include <algorithm>
#include <cstring>

#include "memory.hpp"

namespace distrun::probe::python {
namespace {

constexpr Address kPage = 4096;
constexpr std::size_t kPagesMax = 8192;
constexpr std::size_t kReadMax = std::size_t{1} << 20;

}  // namespace

const std::vector<std::byte>* ProcessMemory::page_at(Address begin) {
  const auto known = pages_.find(begin);
  if (known != pages_.end()) return &known->second;
  is_over_ = is_over_ || pages_.size() >= kPagesMax || std::chrono::steady_clock::now() >= end_;
  if (is_over_) return nullptr;
  std::vector<std::byte>& page = pages_[begin];
  page.resize(kPage);
  if (read_memory(tid_, begin, page.data(), kPage) != kPage) page.clear();
  return &page;
}

bool ProcessMemory::read(Address address, void* into, std::size_t size) {
  if (address == 0 || size > kReadMax || address > UINT64_MAX - size) return false;
  auto* to = static_cast<std::byte*>(into);
  while (size > 0) {
    const std::vector<std::byte>* page = page_at(address & ~(kPage - 1));
    if (page == nullptr || page->empty()) return false;
    const std::size_t at = address % kPage;
    const std::size_t part = std::min<std::size_t>(size, kPage - at);
    std::memcpy(to, page->data() + at, part);
    to += part;
    address += part;
    size -= part;
  }
  return true;
}

}  // namespace distrun::probe::python

#include <distrun/runtime/device/drivers/virtual/address_space.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/byte_text.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/symbols/caller.hpp>

namespace distrun::device::virtual_gpu {
namespace {

constexpr std::size_t kPinnedAlignment = 256;

std::int64_t number_of(const void* address) noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(address));
}

[[noreturn]] void refuse_access(int device, std::size_t bytes, const std::optional<Extent>& allocation,
                                const void* address) {
  std::string text = "access to " + byte_text(bytes) + " of " + to_string(cuda(device));
  if (!allocation) throw Error(ErrorKind::InvalidArgument, text + " where no memory is allocated");
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - allocation->begin);
  throw Error(ErrorKind::InvalidArgument,
              text + " that begins at " + byte_text(offset) + " of an allocation of " + byte_text(allocation->bytes));
}

// Text in a buffer of fixed size; the excess is cut. Async-signal-safe.
class FixedText {
 public:
  FixedText(char* text, std::size_t size) noexcept : text_(text), size_(size) {}

  FixedText& operator<<(const char* more) noexcept {
    const std::size_t length = std::min(std::strlen(more), size_ - used_);
    std::memcpy(text_ + used_, more, length);
    used_ += length;
    return *this;
  }
  FixedText& operator<<(std::uint64_t number) noexcept {
    char digits[24];
    char* end = digits + sizeof digits - 1;
    *end = '\0';
    do {
      *--end = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << end;
  }
  std::size_t used() const noexcept { return used_; }

 private:
  char* text_;
  std::size_t size_;
  std::size_t used_ = 0;
};

}  // namespace

AddressSpace::AddressSpace(int devices, std::size_t bytes_each) {
  for (int device = 0; device < devices; ++device) devices_.emplace_back(device, bytes_each);
}

void* AddressSpace::allocate(int device, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  DeviceMemory& memory = devices_[static_cast<std::size_t>(device)];
  if (void* found = memory.allocate(bytes)) {
    const Extent extent = memory.find(found).value();
    forget_blocks(number_of(extent.begin), number_of(extent.begin + extent.bytes));
    return found;
  }
  throw Error(ErrorKind::Overloaded, "OutOfMemoryError",
              to_string(cuda(device)) + " cannot allocate " + byte_text(bytes) +
                  " in one piece: " + byte_text(memory.views().bytes()) + " in all, " + byte_text(memory.free_bytes()) +
                  " free, in blocks of at most " + byte_text(memory.largest_free()));
}

// Freed memory is kept as one block until its addresses are allocated again.
void AddressSpace::free(int device, void* memory, const core::CallSite& site) {
  const std::lock_guard lock(mutex_);
  DeviceMemory& owner = devices_[static_cast<std::size_t>(device)];
  const std::optional<Extent> extent = owner.find(memory);
  owner.free(memory);
  const std::int64_t begin = number_of(extent->begin), end = begin + static_cast<std::int64_t>(extent->bytes);
  const Block* const known = find_block(memory);
  const core::CallSite taken_at = known != nullptr && known->end == end ? known->site : core::CallSite{};
  forget_blocks(begin, end);
  blocks_[begin] = {0, begin, end, taken_at, true, site};
}

std::size_t AddressSpace::free_bytes(int device) const {
  const std::lock_guard lock(mutex_);
  return devices_[static_cast<std::size_t>(device)].free_bytes();
}

void* AddressSpace::allocate_pinned(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  const std::size_t rounded = (wanted + kPinnedAlignment - 1) / kPinnedAlignment * kPinnedAlignment;
  void* memory = rounded >= bytes ? std::aligned_alloc(kPinnedAlignment, rounded) : nullptr;
  if (memory == nullptr) {
    throw Error(ErrorKind::Overloaded, "OutOfMemoryError",
                "the host cannot allocate " + byte_text(bytes) + " in one piece");
  }
  const std::lock_guard lock(mutex_);
  pinned_.emplace(static_cast<std::byte*>(memory), rounded);
  return memory;
}

void AddressSpace::free_pinned(void* memory) {
  {
    const std::lock_guard lock(mutex_);
    if (pinned_.erase(static_cast<std::byte*>(memory)) == 0) {
      throw Error(ErrorKind::InvalidArgument, "no pinned memory begins at this address");
    }
  }
  std::free(memory);
}

void* AddressSpace::add_imported(int device, TwoViews views) {
  const std::lock_guard lock(mutex_);
  std::byte* view = views.view();
  imported_.emplace(view, Imported{device, std::move(views)});
  return view;
}

void AddressSpace::remove_imported(void* memory) {
  const std::lock_guard lock(mutex_);
  const Imported* found = find_imported(memory);
  if (found == nullptr) throw Error(ErrorKind::InvalidArgument, "no imported memory is at this address");
  const std::byte* begin = found->views.view();
  forget_blocks(number_of(begin), number_of(begin + found->views.bytes()));
  imported_.erase(begin);
}

AddressPlace AddressSpace::place(const void* address, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const DeviceMemory& memory = devices_[i];
    if (!memory.views().holds(address)) continue;
    const std::optional<Extent> extent = memory.find(address);
    const auto* begin = static_cast<const std::byte*>(address);
    const Block* const block = find_block(address);
    if (block != nullptr && block->is_freed && (bytes != 0 || !extent))
      refuse_freed(static_cast<int>(i), bytes, *block, address);
    if (!extent || bytes > static_cast<std::size_t>(extent->begin + extent->bytes - begin)) {
      refuse_access(static_cast<int>(i), bytes, extent, address);
    }
    return {static_cast<int>(i), false, memory.views().own(address), *extent};
  }
  if (const std::optional<AddressPlace> imported = place_imported(address, bytes)) return *imported;
  return {-1, is_pinned(address), const_cast<void*>(address), {}};
}

std::optional<AddressPlace> AddressSpace::place_imported(const void* address, std::size_t bytes) const {
  const Imported* imported = find_imported(address);
  if (imported == nullptr) return std::nullopt;
  const Extent whole{imported->views.view(), imported->views.bytes()};
  if (bytes > static_cast<std::size_t>(whole.begin + whole.bytes - static_cast<const std::byte*>(address))) {
    refuse_access(imported->device, bytes, whole, address);
  }
  return AddressPlace{imported->device, false, imported->views.own(address), whole};
}

const AddressSpace::Imported* AddressSpace::find_imported(const void* address) const noexcept {
  auto found = imported_.upper_bound(static_cast<const std::byte*>(address));
  if (found == imported_.begin()) return nullptr;
  --found;
  return found->second.views.holds(address) ? &found->second : nullptr;
}

bool AddressSpace::is_pinned(const void* address) const noexcept {
  auto found = pinned_.upper_bound(static_cast<const std::byte*>(address));
  if (found == pinned_.begin()) return false;
  --found;
  return address < found->first + found->second;
}

int AddressSpace::device_of(const void* address) const noexcept {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].views().holds(address)) return static_cast<int>(i);
  }
  const std::lock_guard lock(mutex_);
  const Imported* imported = find_imported(address);
  return imported != nullptr ? imported->device : -1;
}

void AddressSpace::name_block(const void* memory, std::size_t bytes, const core::CallSite& site) {
  const std::int64_t begin = number_of(memory);
  const std::int64_t end = begin + static_cast<std::int64_t>(bytes);
  const std::lock_guard lock(mutex_);
  forget_blocks(begin, end);
  blocks_[begin] = {next_block_++, begin, end, site, false, {}};
}

void AddressSpace::forget_blocks(std::int64_t begin, std::int64_t end) {
  auto block = blocks_.lower_bound(begin);
  if (block != blocks_.begin() && std::prev(block)->second.end > begin) --block;
  while (block != blocks_.end() && block->first < end) block = blocks_.erase(block);
}

void AddressSpace::free_block(const void* memory, std::size_t bytes, const core::CallSite& site) noexcept {
  const std::int64_t begin = number_of(memory);
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(begin);
  if (found == blocks_.end() || found->second.end != begin + static_cast<std::int64_t>(bytes)) return;
  found->second.is_freed = true;
  found->second.freed_at = site;
}

void AddressSpace::refuse_freed(int device, std::size_t bytes, const Block& block, const void* address) const {
  const std::string taken = symbols::place_text(block.site), freed = symbols::place_text(block.freed_at);
  const std::string what = "an allocation of " + byte_text(static_cast<std::size_t>(block.end - block.begin)) + " on " +
                           to_string(cuda(device)) + (taken.empty() ? "" : ", allocated" + taken) +
                           ", which was freed before" + freed;
  if (bytes == 0) throw Error(ErrorKind::InvalidArgument, "memory is freed twice: " + what);
  throw Error(ErrorKind::InvalidArgument, "use after free: access to " + byte_text(bytes) + " from byte " +
                                              std::to_string(number_of(address) - block.begin) + " on of " + what);
}

// Returns the block with that address, or null. Requires mutex_.
const Block* AddressSpace::find_block(const void* address) const noexcept {
  auto block = blocks_.upper_bound(number_of(address));
  if (block == blocks_.begin()) return nullptr;
  --block;
  return number_of(address) < block->second.end ? &block->second : nullptr;
}

Block AddressSpace::block_of(const void* address) const {
  const std::lock_guard lock(mutex_);
  const Block* const block = find_block(address);
  return block != nullptr ? *block : Block{};
}

std::size_t AddressSpace::describe(const void* address, char* text, std::size_t size) const noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  int device = -1;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i].views().holds(address)) device = static_cast<int>(i);
  }
  const Imported* imported = lock ? find_imported(address) : nullptr;
  if (imported != nullptr) device = imported->device;
  if (device < 0) return 0;
  FixedText out(text, size);
  const Block* const block = lock ? find_block(address) : nullptr;
  if (block != nullptr && block->is_freed) out << "freed ";
  out << (imported != nullptr ? "imported memory of cuda:" : "device memory of cuda:");
  out << static_cast<std::uint64_t>(device);
  if (block == nullptr) return out.used();
  const base::Location site = block->site.location, freed = block->freed_at.location;
  if (site.line != 0) out << " (allocated at " << site.file << ":" << site.line << ")";
  if (freed.line != 0) out << " (freed at " << freed.file << ":" << freed.line << ")";
  return out.used();
}

}  // namespace distrun::device::virtual_gpu

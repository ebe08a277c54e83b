#include "unit_ranges.hpp"

#include <gelf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace distrun::probe {
namespace {

constexpr std::uint32_t kWideLength = 0xffffffff;  // a 64-bit length follows
constexpr std::uint8_t kAddressBytes = 8;
constexpr std::size_t kEntryBytes = 2 * kAddressBytes;

// Reads numbers; `is_valid` becomes false when the bytes end.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class Number>
  Number take() {
    Number number{};
    if (bytes_.size() - at_ < sizeof number) {
      is_valid_ = false;
      at_ = bytes_.size();
      return number;
    }
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  void move_to(std::size_t at) {
    is_valid_ = is_valid_ && at <= bytes_.size();
    at_ = std::min(at, bytes_.size());
  }
  std::size_t at() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  bool is_valid() const noexcept { return is_valid_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool is_valid_ = true;
};

// Adds the entries of one unit. Returns false if they are not valid.
bool add_set(Cursor& cursor, std::vector<UnitRange>& ranges) {
  const std::size_t begin = cursor.at();
  std::uint64_t length = cursor.take<std::uint32_t>();
  const bool is_wide = length == kWideLength;
  if (is_wide) length = cursor.take<std::uint64_t>();
  if (!cursor.is_valid() || length > cursor.left()) return false;
  const std::size_t end = cursor.at() + static_cast<std::size_t>(length);
  cursor.take<std::uint16_t>();  // version
  const std::uint64_t unit = is_wide ? cursor.take<std::uint64_t>() : cursor.take<std::uint32_t>();
  const auto address_bytes = cursor.take<std::uint8_t>();
  const auto segment_bytes = cursor.take<std::uint8_t>();
  if (!cursor.is_valid() || address_bytes != kAddressBytes || segment_bytes != 0) return false;
  // Entries are aligned to their size, from the beginning of the set.
  cursor.move_to(begin + (cursor.at() - begin + kEntryBytes - 1) / kEntryBytes * kEntryBytes);
  while (cursor.is_valid() && cursor.at() + kEntryBytes <= end) {
    const auto address = cursor.take<std::uint64_t>();
    const auto size = cursor.take<std::uint64_t>();
    if (size != 0 && address + size > address) ranges.push_back({address, address + size, unit});
  }
  cursor.move_to(end);
  return cursor.is_valid();
}

std::optional<std::span<const std::byte>> find_section(Elf* elf, std::string_view wanted) {
  std::size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || name != wanted) continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0) return std::nullopt;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
    return std::as_bytes(std::span(static_cast<const char*>(data->d_buf), data->d_size));
  }
  return std::nullopt;
}

bool has_own_byte_order(Elf* elf) {
  const char* ident = elf_getident(elf, nullptr);
  const auto own = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  return ident != nullptr && ident[EI_DATA] == own && ident[EI_CLASS] == ELFCLASS64;
}

}  // namespace

std::optional<UnitRanges> UnitRanges::parse(std::span<const std::byte> section) {
  UnitRanges all;
  all.ranges_.reserve(section.size() / kEntryBytes);
  Cursor cursor(section);
  while (cursor.left() > 0) {
    const std::size_t before = all.ranges_.size();
    if (!add_set(cursor, all.ranges_)) return std::nullopt;
    if (all.ranges_.size() > before) all.units_.insert(all.ranges_.back().unit);
  }
  std::sort(all.ranges_.begin(), all.ranges_.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
  return all;
}

std::optional<UnitRanges> UnitRanges::of(Dwarf* dwarf) {
  Elf* elf = dwarf_getelf(dwarf);
  if (elf == nullptr || !has_own_byte_order(elf)) return std::nullopt;
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr || header.e_type == ET_REL) return std::nullopt;  // not relocated
  const auto section = find_section(elf, ".debug_aranges");
  return section ? parse(*section) : std::nullopt;
}

std::optional<std::uint64_t> UnitRanges::find(std::uint64_t address) const {
  const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                     [](std::uint64_t value, const UnitRange& range) { return value < range.begin; });
  if (next == ranges_.begin() || address >= std::prev(next)->end) return std::nullopt;
  return std::prev(next)->unit;
}

}  // namespace distrun::probe

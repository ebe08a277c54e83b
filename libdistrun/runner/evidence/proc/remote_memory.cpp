#include <distrun/runner/evidence/proc/remote_memory.hpp>

#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/proc/mapping_line.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kMapsMax = std::size_t{4} << 20;
constexpr std::size_t kStringMax = 256;

std::optional<SharedPlace> place_in(std::string_view line, std::uint64_t address) {
  const auto mapping = parse_mapping(line);
  if (!mapping || address < mapping->begin || address >= mapping->end || mapping->rights[3] != 's') return std::nullopt;
  SharedPlace place;
  place.file.append(mapping->device).append(":").append(mapping->inode);
  place.path = base::one_line(mapping->path);
  place.offset = mapping->offset + (address - mapping->begin);
  return place;
}

}  // namespace

bool RemoteMemory::read(std::uint64_t address, void* into, std::size_t size) const {
  const iovec here{into, size};
  const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size};  // NOLINT: not ours
  return readable_ && ::process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::string RemoteMemory::string(std::uint64_t address) const {
  // Reads up to the end of a page at a time: the next page may not be mapped.
  constexpr std::uint64_t kPage = 4096;
  char text[kStringMax];
  std::size_t size = 0;
  while (size < sizeof text) {
    const std::size_t part = std::min<std::size_t>(sizeof text - size, kPage - (address + size) % kPage);
    if (!read(address + size, text + size, part)) break;
    if (std::memchr(text + size, '\0', part) != nullptr) return base::one_line(text);
    size += part;
  }
  return base::one_line(std::string_view(text, size));
}

std::optional<SharedPlace> find_shared(std::string_view maps, std::uint64_t address) {
  std::optional<SharedPlace> found;
  for_each_line(maps, [&](std::string_view line) {
    if (!found) found = place_in(line, address);
  });
  return found;
}

std::optional<SharedPlace> RemoteMemory::shared_place(std::uint64_t address) const {
  if (!readable_) return std::nullopt;
  if (!maps_) maps_ = read_proc_file(proc_path(pid_, "maps"), kMapsMax).text;
  return find_shared(*maps_, address);
}

}  // namespace distrun::evidence

#include <distrun/common/trace/memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>

namespace distrun::trace {
namespace {

[[noreturn]] void fail(std::size_t size) {
  base::throw_errno("cannot create the memory of a trace of " + std::to_string(size) + " bytes", errno);
}

base::Fd make_file(const FileHead& head, std::size_t size) {
  base::Fd fd = base::make_sealed_memory("distrun-trace", size);
  if (::pwrite(fd.get(), &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) fail(size);
  return fd;
}

}  // namespace

std::uint64_t records_kept(std::uint64_t records) noexcept {
  return std::bit_ceil(std::clamp(records, kRecordsMin, kRecordsMax));
}

Memory::Memory(int world_size, std::uint64_t records)
    : world_size_(world_size),
      records_(records_kept(records)),
      size_(area_offset(world_size, records_)),
      fd_(make_file({kMagic, records_, world_size}, size_)) {
  void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) fail(size_);
  data_ = static_cast<const std::byte*>(at);
}

Memory::~Memory() { ::munmap(const_cast<std::byte*>(data_), size_); }

std::string Memory::path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_.get()); }

const AreaHead& Memory::head(int rank) const noexcept {
  return *reinterpret_cast<const AreaHead*>(data_ + area_offset(rank, records_));
}

const Cell* Memory::cells(int rank) const noexcept {
  return reinterpret_cast<const Cell*>(data_ + area_offset(rank, records_) + kPage);
}

}  // namespace distrun::trace

#include "memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::probe {
namespace {

constexpr std::uint64_t kPage = 4096;

bool take_word(const StackCopy& copy, std::uint64_t address, std::uint64_t& word) {
  const std::uint64_t offset = address - copy.begin;  // wraps to a huge value for addresses below the copy
  if (copy.bytes.size() < sizeof word || offset > copy.bytes.size() - sizeof word) return false;
  std::memcpy(&word, copy.bytes.data() + offset, sizeof word);
  return true;
}

// Fallback for kernels and sandboxes without process_vm_readv.
std::size_t read_memory_file(pid_t tid, std::uint64_t address, void* to, std::size_t size) {
  const base::Fd file(::open(("/proc/" + std::to_string(tid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  const ssize_t got = ::pread(file.get(), to, size, static_cast<off_t>(address));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace

std::size_t read_memory(pid_t tid, std::uint64_t address, void* to, std::size_t size) {
  const iovec here{to, size};
  const iovec there{reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr): of the other process
  const ssize_t got = ::process_vm_readv(tid, &here, 1, &there, 1, 0);
  return got > 0 ? static_cast<std::size_t>(got) : read_memory_file(tid, address, to, size);
}

StackCopy copy_stack(pid_t tid, std::uint64_t begin, std::uint64_t end) {
  StackCopy copy{begin, std::vector<std::byte>(end - begin)};
  copy.bytes.resize(read_memory(tid, begin, copy.bytes.data(), copy.bytes.size()));
  return copy;
}

bool Memory::read_word(std::uint64_t address, std::uint64_t& word) {
  if (take_word(stack_, address, word) || take_word(page_, address, word)) return true;
  const std::uint64_t page = address & ~(kPage - 1);
  if (address + sizeof word > page + kPage) return read_memory(tid_, address, &word, sizeof word) == sizeof word;
  page_ = copy_stack(tid_, page, page + kPage);
  return take_word(page_, address, word);
}

}  // namespace distrun::probe

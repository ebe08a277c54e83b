#include <agents/pipe/door.hpp>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kPage = 4096;

std::uint32_t* futex_of(std::atomic<std::uint32_t>& word) { return reinterpret_cast<std::uint32_t*>(&word); }

}  // namespace

Door::Door() : memfd_(core::make_memfd("distrun-rpc-door", kPage)) { map(memfd_.get()); }

Door::Door(const base::Fd& memfd) {
  if (base::sealed_size(memfd.get()).value_or(0) < kPage) {
    throw Error(ErrorKind::InvalidArgument, "the peer's door is not a sealed page of memory");
  }
  map(memfd.get());
}

void Door::map(int memfd) {
  void* const mapped = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
  if (mapped == MAP_FAILED) base::throw_errno("cannot map RPC's door", errno);
  page_ = static_cast<DoorPage*>(mapped);
}

base::Fd Door::duplicate_fd() const {
  base::Fd copy(::fcntl(memfd_.get(), F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) base::throw_errno("cannot duplicate the descriptor of RPC's door", errno);
  return copy;
}

Door::~Door() { ::munmap(page_, kPage); }

void Door::ring() const noexcept {
  std::uint32_t before = page_->word.load();
  while ((before & kState) == kParked) {
    if (!page_->word.compare_exchange_weak(before, ((before & ~kState) + kStep) | kPolling)) continue;
    ::syscall(SYS_futex, futex_of(page_->word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
    return;
  }
}

void Door::sleep(std::uint32_t state, base::TimePoint until) const noexcept {
  const auto ns = std::chrono::duration_cast<base::Nanoseconds>(until.time_since_epoch()).count();
  const timespec at{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  const timespec* const limit = until == base::TimePoint::max() ? nullptr : &at;
  ::syscall(SYS_futex, futex_of(page_->word), FUTEX_WAIT_BITSET, state, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void Door::wake() noexcept {
  page_->word.fetch_add(kStep);
  ::syscall(SYS_futex, futex_of(page_->word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace distrun::agents::pipe

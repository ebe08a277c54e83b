#include <agents/pipe/transports/byte_ring.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kHeadBytes = 4096;  // positions of both rings
constexpr std::size_t kFileBytes = kHeadBytes + 2 * kRingBytes;
constexpr std::size_t kMappedBytes = kHeadBytes + 4 * kRingBytes;
constexpr std::size_t kStreamFrom = 8192;  // smaller copies are faster through the caches, wherever the reader runs
static_assert(2 * sizeof(RingHead) <= kHeadBytes && kRingBytes % 4096 == 0 && (kRingBytes & (kRingBytes - 1)) == 0);

[[noreturn]] void refuse_positions() {
  throw Error(ErrorKind::Disconnected, "the peer corrupted the shared memory: a position in its ring is invalid");
}

[[noreturn]] void refuse_left() { throw Error(ErrorKind::Disconnected, "the peer closed the connection"); }

}  // namespace

void copy_to_shared(std::byte* to, const void* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  if (bytes >= kStreamFrom) {
    const auto* in = static_cast<const std::byte*>(from);
    const std::size_t ahead = (16 - reinterpret_cast<std::uintptr_t>(to) % 16) % 16;
    std::memcpy(to, in, ahead);
    to += ahead, in += ahead, bytes -= ahead;
    for (; bytes >= 64; to += 64, in += 64, bytes -= 64) {
      const auto* block = reinterpret_cast<const __m128i*>(in);
      auto* out = reinterpret_cast<__m128i*>(to);
      const __m128i a = _mm_loadu_si128(block), b = _mm_loadu_si128(block + 1);
      const __m128i c = _mm_loadu_si128(block + 2), d = _mm_loadu_si128(block + 3);
      _mm_stream_si128(out, a), _mm_stream_si128(out + 1, b);
      _mm_stream_si128(out + 2, c), _mm_stream_si128(out + 3, d);
    }
    std::memcpy(to, in, bytes);
    _mm_sfence();
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

std::size_t RingWriter::room() {
  const std::uint64_t used = written_ - read_seen_;
  if (used > kRingBytes) refuse_positions();
  return kRingBytes - used;
}

std::size_t RingWriter::write(std::span<const iovec> parts) {
  if (head_.reader_left.load(std::memory_order_relaxed) != 0) refuse_left();
  std::size_t wanted = 0;
  for (const iovec& part : parts) wanted += part.iov_len;
  if (room() < wanted) read_seen_ = head_.read.load(std::memory_order_acquire);
  std::size_t left = std::min(room(), wanted);
  const std::size_t taken = left;
  for (const iovec& part : parts) {
    const std::size_t bytes = std::min(left, part.iov_len);
    put(part, bytes);
    left -= bytes;
    if (left == 0) break;
  }
  head_.written.store(written_);
  return taken;
}

// Publishes a long part piece by piece, so that the reader can begin early.
void RingWriter::put(const iovec& part, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(part.iov_base);
  while (bytes != 0) {
    const std::size_t piece = std::min(bytes, kPieceBytes);
    copy_to_shared(data_ + written_ % kRingBytes, from, piece);
    written_ += piece, from += piece, bytes -= piece;
    if (bytes != 0) head_.written.store(written_, std::memory_order_release);
  }
}

bool RingWriter::wait_for_room() {
  head_.writer_waits.store(1);
  read_seen_ = head_.read.load();
  if (room() == 0) return true;
  head_.writer_waits.store(0);
  return false;
}

std::span<const std::byte> RingReader::nothing() {
  if (head_.writer_left.load(std::memory_order_acquire) != 0 && head_.written.load() == read_) refuse_left();
  return {};
}

std::span<const std::byte> RingReader::some(std::uint64_t written) const {
  if (written - read_ > kRingBytes) refuse_positions();
  return {data_ + read_ % kRingBytes, static_cast<std::size_t>(written - read_)};
}

base::Fd RingPair::make_memfd() { return core::make_memfd("distrun-rpc-rings", kFileBytes); }

RingPair::RingPair(base::Fd memfd, bool is_maker) : is_maker_(is_maker) {
  if (base::sealed_size(memfd.get()) != kFileBytes) {
    throw Error(ErrorKind::InvalidArgument, "the peer's rings are not sealed memory of the expected size");
  }
  map(memfd);
}

// Reserves the whole range first, so that the mappings are adjacent.
void RingPair::map(const base::Fd& memfd) {
  void* const reserved = ::mmap(nullptr, kMappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) base::throw_errno("cannot reserve address space for RPC's rings", errno);
  memory_ = static_cast<std::byte*>(reserved);
  const auto put = [&](std::size_t at, std::size_t bytes, std::size_t offset) {
    const void* const mapped = ::mmap(memory_ + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memfd.get(),
                                      static_cast<off_t>(offset));
    return mapped != MAP_FAILED;
  };
  bool is_mapped = put(0, kHeadBytes, 0);
  for (int ring = 0; ring < 2 && is_mapped; ++ring) {
    const std::size_t at = kHeadBytes + static_cast<std::size_t>(ring) * 2 * kRingBytes;
    const std::size_t offset = kHeadBytes + static_cast<std::size_t>(ring) * kRingBytes;
    is_mapped = put(at, kRingBytes, offset) && put(at + kRingBytes, kRingBytes, offset);
  }
  if (is_mapped) return;
  const int why = errno;
  ::munmap(memory_, kMappedBytes);
  base::throw_errno("cannot map RPC's rings", why);
}

RingPair::~RingPair() { ::munmap(memory_, kMappedBytes); }

RingHead& RingPair::head(int ring) const noexcept { return reinterpret_cast<RingHead*>(memory_)[ring]; }

std::byte* RingPair::data(int ring) const noexcept {
  return memory_ + kHeadBytes + static_cast<std::size_t>(ring) * 2 * kRingBytes;
}

}  // namespace distrun::agents::pipe

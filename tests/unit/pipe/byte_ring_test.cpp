// Rings in shared memory: bytes arrive in any sizes, and a peer that writes invalid positions is refused.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include <agents/pipe/transports/byte_ring.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::agents::pipe {
namespace {

// A single ring, mapped once: both ends in this process, with accessible positions.
struct Ring {
  RingHead head;
  std::vector<std::byte> data = std::vector<std::byte>(2 * kRingBytes);
  RingWriter writer{head, data.data()};
  RingReader reader{head, data.data()};
};

// Both ends of a pair, mapped twice as by two workers.
struct Pair {
  Pair() : Pair(RingPair::make_memfd()) {}
  explicit Pair(base::Fd memfd)
      : one(base::Fd(::fcntl(memfd.get(), F_DUPFD_CLOEXEC, 0)), true), two(std::move(memfd), false) {}
  RingPair one, two;
};

std::size_t write(RingWriter& writer, const std::vector<std::byte>& bytes) {
  const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  return writer.write({&part, 1});
}
std::size_t write(RingWriter& writer, const std::string& text) {
  const iovec parts[2]{{const_cast<char*>(text.data()), 1}, {const_cast<char*>(text.data()) + 1, text.size() - 1}};
  return writer.write(parts);
}
std::string look(RingReader& reader) {
  const auto bytes = reader.look();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
  base::Rng rng(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& each : bytes) each = std::byte(static_cast<unsigned char>(rng.next()));
  return bytes;
}

std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Disconnected);
    return error.text();
  }
  return "nothing";
}
const std::string kBroken = "the peer corrupted the shared memory: a position in its ring is invalid";
const std::string kClosed = "the peer closed the connection";

TEST_CASE("each side reads what the other side writes") {
  Pair pair;
  RingWriter one = pair.one.writer(), two = pair.two.writer();
  RingReader of_one = pair.one.reader(), of_two = pair.two.reader();
  CHECK(write(one, "abc") == 3);
  CHECK(write(two, "xy") == 2);
  CHECK(look(of_two) == "abc");
  CHECK(look(of_one) == "xy");
  of_two.consume(1);
  CHECK(look(of_two) == "bc");
  CHECK_FALSE(of_two.is_empty());
  of_two.consume(2);
  CHECK(of_two.is_empty());
  CHECK(look(of_two).empty());
}

TEST_CASE("data across the end of a ring is one contiguous piece of memory") {
  Pair pair;
  RingWriter writer = pair.one.writer();
  RingReader reader = pair.two.reader();
  for (const std::size_t size : {std::size_t{3}, std::size_t{4097}, std::size_t{70'001}, kRingBytes - 1, kRingBytes}) {
    const std::vector<std::byte> bytes = pattern(size, size);
    for (std::size_t passed = 0; passed < 3 * kRingBytes; passed += size) {
      REQUIRE(write(writer, bytes) == size);
      const auto there = reader.look();
      REQUIRE(there.size() == size);
      REQUIRE(std::memcmp(there.data(), bytes.data(), size) == 0);
      reader.consume(size);
      if (size < 100 && passed > 1000) break;
    }
  }
}

TEST_CASE("a full ring takes no data, and the reader that frees space is asked to notify the writer") {
  Pair pair;
  RingWriter writer = pair.one.writer();
  RingReader reader = pair.two.reader();
  CHECK(write(writer, pattern(kRingBytes + 10, 1)) == kRingBytes);
  CHECK(write(writer, "more") == 0);
  CHECK_FALSE(reader.take_writer_waits());
  CHECK(writer.wait_for_room());
  CHECK(reader.look().size() == kRingBytes);
  reader.consume(3);
  CHECK(reader.take_writer_waits());
  CHECK_FALSE(reader.take_writer_waits());
  CHECK_FALSE(writer.wait_for_room());
  CHECK_FALSE(reader.take_writer_waits());
  CHECK(write(writer, "more") == 3);
}

TEST_CASE("data written before the writer left is read, then the end is reported") {
  Ring ring;
  write(ring.writer, "abc");
  ring.writer.leave();
  CHECK(look(ring.reader) == "abc");
  ring.reader.consume(3);
  CHECK(thrown_by([&] { ring.reader.look(); }) == kClosed);
}

TEST_CASE("a ring without a reader takes no data") {
  Ring ring;
  ring.reader.leave();
  CHECK(thrown_by([&] { write(ring.writer, "abc"); }) == kClosed);
}

TEST_CASE("an invalid position is refused, and no memory beyond the ring is touched") {
  constexpr std::uint64_t kBad[] = {kRingBytes + 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  for (const std::uint64_t bad : kBad) {
    Ring of_reader;
    of_reader.head.written.store(bad);
    CHECK(thrown_by([&] { of_reader.reader.look(); }) == kBroken);
  }
  Ring back;
  write(back.writer, "abc");
  (void)back.reader.look();
  back.reader.consume(3);
  back.head.written.store(1);
  CHECK(thrown_by([&] { back.reader.look(); }) == kBroken);
  Ring of_writer;
  write(of_writer.writer, pattern(kRingBytes - 1, 1));
  of_writer.head.read.store(kRingBytes);
  CHECK(thrown_by([&] { write(of_writer.writer, "abc"); }) == kBroken);
  CHECK(thrown_by([&] { of_writer.writer.wait_for_room(); }) == kBroken);
}

TEST_CASE("a peer that changes a position of the other side does not hide its end") {
  Ring ring;
  write(ring.writer, "abc");
  (void)ring.reader.look();
  ring.reader.consume(3);
  ring.head.read.store(1);
  ring.writer.leave();
  CHECK(thrown_by([&] { ring.reader.look(); }) == kClosed);
}

TEST_CASE("memory of another size is not a pair of rings") {
  CHECK_THROWS_AS(RingPair(core::make_memfd("a test", 4096), false), Error);
  CHECK_THROWS_AS(RingPair(base::make_pipe().first, false), Error);
  CHECK_THROWS_AS(RingPair(base::Fd(), false), Error);
}

TEST_CASE("memory of the right size is not a pair of rings if its owner could change the size") {
  struct stat rings {};
  REQUIRE(::fstat(RingPair::make_memfd().get(), &rings) == 0);
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW}) {
    base::Fd open(::memfd_create("a test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(open.get(), rings.st_size) == 0);
    REQUIRE(::fcntl(open.get(), F_ADD_SEALS, seals) == 0);
    CHECK_THROWS_WITH(RingPair(std::move(open), false), Catch::Contains("not sealed memory of the expected size"));
  }
}

TEST_CASE("copies to shared memory are correct at any offset") {
  const std::vector<std::byte> from = pattern(40'000, 3);
  for (const std::size_t size : {0, 1, 63, 8191, 8192, 8193, 30'001}) {
    for (const std::size_t shift : {0, 1, 15, 16, 17}) {
      std::vector<std::byte> to(size + shift + 64, std::byte{0xee});
      copy_to_shared(to.data() + shift, from.data() + 7, size);
      REQUIRE(std::memcmp(to.data() + shift, from.data() + 7, size) == 0);
      REQUIRE(std::all_of(to.begin() + static_cast<std::ptrdiff_t>(shift + size), to.end(),
                          [](std::byte each) { return each == std::byte{0xee}; }));
    }
  }
}

// A checksum of all bytes, in order.
struct Sum {
  std::uint64_t value = 14695981039346656037U;
  void add(std::span<const std::byte> bytes) {
    for (const std::byte each : bytes) value = (value ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
  }
};

void stream(RingWriter writer, RingReader reader, std::size_t bytes) {
  const std::vector<std::byte> source = pattern(300'000, 17);
  Sum sent, read;
  std::thread other([&] {
    base::Rng rng(1);
    for (std::size_t left = bytes; left != 0;) {
      const std::size_t size = std::min<std::size_t>(left, 1 + rng.below(rng.below(2) != 0 ? 100'000 : 100));
      const std::size_t cut = size / 3;
      const std::byte* const from = source.data() + rng.below(source.size() - size);
      const iovec parts[2]{{const_cast<std::byte*>(from), cut}, {const_cast<std::byte*>(from) + cut, size - cut}};
      const std::size_t taken = writer.write(parts);
      sent.add({from, taken});
      left -= taken;
      if (taken == 0) std::this_thread::yield();
    }
    writer.leave();
  });
  base::Rng rng(2);
  try {
    for (;;) {
      const auto there = reader.look();
      if (there.empty()) {
        std::this_thread::yield();
        continue;
      }
      const std::size_t size = std::min<std::size_t>(there.size(), 1 + rng.below(50'000));
      read.add(there.first(size));
      reader.consume(size);
    }
  } catch (const Error& error) {
    CHECK(error.text() == kClosed);
  }
  other.join();
  CHECK(read.value == sent.value);
}

TEST_CASE("two threads stream through a ring of two mappings, and all data arrives in order") {
  Pair pair;
  stream(pair.one.writer(), pair.two.reader(), 100 << 20);
}

// Mapped once for both ends, so that the thread sanitizer sees that they touch the same bytes.
TEST_CASE("two threads stream through a ring of one mapping") {
  const base::Fd memfd = core::make_memfd("a test", kRingBytes);
  void* const reserved = ::mmap(nullptr, 2 * kRingBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(reserved != MAP_FAILED);
  auto* const data = static_cast<std::byte*>(reserved);
  for (std::byte* const half : {data, data + kRingBytes}) {
    REQUIRE(::mmap(half, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memfd.get(), 0) == half);
  }
  RingHead head;
  stream({head, data}, {head, data}, 100 << 20);
  ::munmap(reserved, 2 * kRingBytes);
}

}  // namespace
}  // namespace distrun::agents::pipe

#include <distrun/common/trace/reader.hpp>
#include <distrun/common/trace/writer.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/thread.hpp>

#include "../support/forked.hpp"

using namespace distrun;
using namespace distrun::trace;

namespace {

SliceInfo named(std::string_view name, Kind kind = Kind::Span) {
  SliceInfo info;
  info.kind = kind;
  info.name = name;
  return info;
}

// A rank's area, writable like in the rank.
class Area {
 public:
  Area(const Memory& memory, int rank) : size_(area_size(memory.records())) {
    const base::Fd fd(::open(memory.path().c_str(), O_RDWR | O_CLOEXEC));
    data_ = static_cast<std::byte*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                                           static_cast<off_t>(area_offset(rank, memory.records()))));
  }
  ~Area() { ::munmap(data_, size_); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  AreaHead& head() const { return *reinterpret_cast<AreaHead*>(data_); }
  Cell& cell(std::size_t index) const { return reinterpret_cast<Cell*>(data_ + kPage)[index]; }

 private:
  std::size_t size_;
  std::byte* data_;
};

}  // namespace

TEST_CASE("the records of a rank are read back as written") {
  const Memory memory(3, kRecordsMin);
  Writer writer;
  CHECK_FALSE(writer.is_on());
  CHECK(writer.begin(named("nowhere")) == 0);
  REQUIRE(writer.follow(memory.path().c_str(), 2) == 0);
  SliceInfo info = named("meet", Kind::Wait);
  info.detail = 3;
  info.rule = Peers::Any;
  info.peers = 0b1001;
  info.has_more_peers = true;
  info.id = 81;
  info.place = "ring.cpp";
  info.line = 41;
  const std::int64_t before = now_ns();
  writer.end(writer.begin(info));
  const ShownArea area = read(memory, 2);
  REQUIRE(area.slices.size() == 1);
  const Slice& slice = area.slices.front();
  CHECK(slice.kind == Kind::Wait);
  CHECK(slice.detail == 3);
  CHECK(slice.rule == Peers::Any);
  CHECK(slice.peers == 0b1001);
  CHECK(slice.has_more_peers);
  CHECK(slice.id == 81);
  CHECK(slice.name == "meet");
  CHECK(slice.place == "ring.cpp");
  CHECK(slice.line == 41);
  CHECK(slice.tid == ::gettid());
  CHECK(slice.begin_ns >= before);
  CHECK(slice.end_ns >= slice.begin_ns);
  CHECK(slice.end_ns <= now_ns());
  CHECK(area.not_kept == 0);
  CHECK(read(memory, 0).slices.empty());
}

TEST_CASE("the records of a rank can be read part by part") {
  const Memory memory(1, kRecordsMin);
  CHECK(written(memory, 0) == 0);
  Writer writer;
  REQUIRE(writer.follow(memory.path().c_str(), 0) == 0);
  for (int i = 0; i < 10; ++i) writer.add(named(std::to_string(i)), 100 + i, 200 + i);
  const std::uint64_t all = written(memory, 0);
  CHECK(all == 11);  // and the name of the thread
  std::set<std::string> names;
  for (std::uint64_t first = 0; first < all; first += 4) {
    const ShownArea part = read(memory, 0, first, 4);
    CHECK(part.slices.size() + part.threads.size() == std::min<std::uint64_t>(4, all - first));
    for (const Slice& slice : part.slices) {
      CHECK(is_sound(slice));
      names.insert(slice.name);
    }
  }
  CHECK(names.size() == 10);
  CHECK(read(memory, 0, all, 4).slices.empty());
  CHECK(read(memory, 0, ~std::uint64_t{0}, ~std::uint64_t{0}).slices.empty());
}

TEST_CASE("a slice that is still running has no end") {
  const Memory memory(1, kRecordsMin);
  Writer writer;
  REQUIRE(writer.follow(memory.path().c_str(), 0) == 0);
  const std::uint64_t outer = writer.begin(named("outer"));
  writer.end(writer.begin(named("inner")));
  const auto end_of = [&](const std::string& name) {
    for (const Slice& slice : read(memory, 0).slices) {
      if (slice.name == name) return slice.end_ns;
    }
    return std::int64_t{-1};
  };
  CHECK(end_of("outer") == 0);
  CHECK(end_of("inner") > 0);
  writer.end(outer);
  CHECK(end_of("outer") > 0);
}

TEST_CASE("a long name keeps its start, and a long path its end") {
  const Memory memory(1, kRecordsMin);
  Writer writer;
  REQUIRE(writer.follow(memory.path().c_str(), 0) == 0);
  SliceInfo info = named(std::string_view());
  const std::string name = std::string(100, 'n') + "end";
  const std::string place = "begin" + std::string(100, 'p');
  info.name = name;
  info.place = place;
  writer.add(info, 1, 2);
  info.name = "short";
  writer.add(info, 3, 4);
  info.name = name;
  info.place = {};
  writer.add(info, 5, 6);
  const ShownArea area = read(memory, 0);
  REQUIRE(area.slices.size() == 3);
  CHECK(area.slices[0].name == std::string(kTextSize - kPlaceSize, 'n'));
  CHECK(area.slices[0].place == std::string(kPlaceSize, 'p'));
  CHECK(area.slices[1].name == "short");
  CHECK(area.slices[1].place == std::string(kTextSize - 5, 'p'));
  CHECK(area.slices[2].name == std::string(kTextSize, 'n'));
  CHECK(area.slices[2].place.empty());
}

TEST_CASE("when the ring is full the newest slices are kept, and the dropped ones counted") {
  const Memory memory(1, kRecordsMin);
  REQUIRE(memory.records() == kRecordsMin);
  Writer writer;
  REQUIRE(writer.follow(memory.path().c_str(), 0) == 0);
  const std::uint64_t first = writer.begin(named("first"));
  constexpr std::int64_t kMore = 1000;
  for (std::int64_t i = 1; i <= kMore; ++i) writer.add(named("more"), i, i);
  writer.end(first);  // its record was reused
  const ShownArea area = read(memory, 0);
  CHECK(area.slices.size() == kRecordsMin);
  CHECK(area.not_kept == kMore + 2 - kRecordsMin);  // with the first, and the name of the thread
  std::set<std::int64_t> begins;
  for (const Slice& slice : area.slices) {
    CHECK(slice.name == "more");
    CHECK(slice.begin_ns == slice.end_ns);
    begins.insert(slice.begin_ns);
  }
  CHECK(begins.size() == kRecordsMin);
  CHECK(*begins.begin() == kMore - static_cast<std::int64_t>(kRecordsMin) + 1);
}

TEST_CASE("threads write concurrently, each under its name, and no record is lost") {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  const Memory memory(1, 4096);
  Writer writer;
  REQUIRE(writer.follow(memory.path().c_str(), 0) == 0);
  {
    std::vector<base::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("writes " + std::to_string(i), [&writer] {
        for (int k = 0; k < kEach; ++k) writer.end(writer.begin(named("work")));
      });
    }
  }
  const ShownArea area = read(memory, 0);
  CHECK(area.slices.size() == kThreads * kEach);
  CHECK(std::all_of(area.slices.begin(), area.slices.end(), [](const Slice& slice) { return slice.end_ns > 0; }));
  std::set<std::string> names;
  for (const auto& [tid, name] : area.threads) names.insert(name);
  CHECK(names == std::set<std::string>{"writes 0", "writes 1", "writes 2", "writes 3"});
}

TEST_CASE("a rank continues in another memory, where earlier slices have no end") {
  const Memory first(2, kRecordsMin);
  const Memory second(2, kRecordsMin);
  Writer writer;
  REQUIRE(writer.follow(first.path().c_str(), 1) == 0);
  const std::uint64_t old = writer.begin(named("old"));
  REQUIRE(writer.follow(second.path().c_str(), 1) == 0);
  const std::uint64_t fresh = writer.begin(named("fresh"));
  CHECK(old != fresh);
  writer.end(old);
  REQUIRE(read(second, 1).slices.size() == 1);
  CHECK(read(second, 1).slices.front().name == "fresh");
  CHECK(read(second, 1).slices.front().end_ns == 0);
  CHECK(read(second, 1).threads.size() == 1);  // introduced again
  REQUIRE(read(first, 1).slices.size() == 1);
  CHECK(read(first, 1).slices.front().end_ns == 0);
}

TEST_CASE("records of a process survive when it is killed, and its child writes none") {
  const Memory memory(1, kRecordsMin);
  const testing::ForkedEnd end = testing::in_child([&] {
    Writer writer;
    if (writer.follow(memory.path().c_str(), 0) != 0) return 1;
    const std::uint64_t open = writer.begin(named("parent"));
    const testing::ForkedEnd child = testing::in_child([&] {
      writer.begin(named("child"));
      writer.end(open);
      return 0;
    });
    return child.code == 0 ? ::kill(::getpid(), SIGKILL) : 2;
  });
  CHECK(end.signal == SIGKILL);
  const ShownArea area = read(memory, 0);
  REQUIRE(area.slices.size() == 1);
  CHECK(area.slices.front().name == "parent");
  CHECK(area.slices.front().end_ns == 0);
}

base::Fd same_but_unsealed(const Memory& memory) {
  const base::Fd from(::open(memory.path().c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  REQUIRE(::fstat(from.get(), &found) == 0);
  std::string head(4096, '\0');
  REQUIRE(::pread(from.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()));
  base::Fd open(::memfd_create("a test", MFD_CLOEXEC));
  REQUIRE(::ftruncate(open.get(), found.st_size) == 0);
  REQUIRE(::pwrite(open.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()));
  return open;
}

TEST_CASE("invalid trace memory, or one without an area for the rank, is refused") {
  const Memory memory(2, kRecordsMin);
  Writer writer;
  CHECK(writer.follow("/proc/no/such/file", 0) == ENOENT);
  CHECK(writer.follow("/dev/null", 0) == EINVAL);
  CHECK(writer.follow(memory.path().c_str(), 2) == EINVAL);
  CHECK(writer.follow(memory.path().c_str(), -1) == EINVAL);
  const base::Fd open = same_but_unsealed(memory);
  CHECK(writer.follow(("/proc/self/fd/" + std::to_string(open.get())).c_str(), 0) == EINVAL);
  CHECK_FALSE(writer.is_on());
}

TEST_CASE("a rank cannot change the size of a trace's memory") {
  const Memory memory(2, kRecordsMin);
  const base::Fd fd(::open(memory.path().c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(fd);
  CHECK(::ftruncate(fd.get(), 0) == -1);
  CHECK(::ftruncate(fd.get(), 1 << 30) == -1);
}

TEST_CASE("the number of records is a power of two within its limits") {
  CHECK(Memory(1, 0).records() == kRecordsMin);
  CHECK(Memory(1, 1000).records() == 1024);
  CHECK(Memory(1, UINT64_MAX).records() == kRecordsMax);
}

TEST_CASE("incomplete or invalid records are skipped") {
  const Memory memory(1, kRecordsMin);
  Writer writer;
  REQUIRE(writer.follow(memory.path().c_str(), 0) == 0);
  constexpr std::size_t kSlices = 6;
  for (std::size_t i = 0; i < kSlices; ++i) writer.add(named("sound"), 10, 20);
  const Area area(memory, 0);
  const auto word_of = [&](std::size_t index, std::size_t offset) -> std::atomic<std::uint64_t>& {
    return area.cell(index).words[offset / 8];
  };
  // The first cell has the thread's name.
  area.cell(1).state = state_of(1, Stage::Writing);
  word_of(2, offsetof(Record, begin_ns)) = 0;
  word_of(3, offsetof(Record, end_ns)) = 9;  // before it began
  word_of(4, offsetof(Record, kind)) = 0xff;
  word_of(5, offsetof(Record, name_size)) |= 0xff'00'00'00'00;  // `kind` to `unused` form one word
  REQUIRE(read(memory, 0).slices.size() == 1);
  CHECK(read(memory, 0).slices.front().name == "sound");
}

TEST_CASE("reading an area is bounded for any contents") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 9)));
  base::Rng rng(seed);
  const Memory memory(2, kRecordsMin);
  const Area area(memory, 1);
  for (std::size_t i = 0; i < area.size(); ++i) area.data()[i] = static_cast<std::byte>(rng.below(256));
  if (seed % 2 == 0) area.head().taken = rng.below(3);
  const ShownArea shown = read(memory, 1);
  CHECK(shown.slices.size() <= memory.records());
  for (const Slice& slice : shown.slices) {
    CHECK(slice.name.size() + slice.place.size() <= kTextSize);
    CHECK(slice.begin_ns > 0);
    CHECK((slice.end_ns == 0 || slice.end_ns >= slice.begin_ns));
  }
  CHECK(read(memory, 0).slices.empty());
}

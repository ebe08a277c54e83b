#include <distrun/common/trace/writer.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/base/sealed_memory.hpp>

namespace distrun::trace {
namespace {

constexpr int kNumberBits = 48;  // of the value of begin(); the bits above count the memories
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

// The process that writes a trace.
constinit base::ProcessMark writing{base::ProcessMark::Unset{}};

std::int32_t own_tid() noexcept {
  static thread_local const std::int32_t tid = ::gettid();
  return tid;
}

bool is_sound(const FileHead& head, std::uint64_t size, int rank) noexcept {
  return head.magic == kMagic && rank >= 0 && rank < head.world_size && std::has_single_bit(head.records) &&
         head.records >= kRecordsMin && head.records <= kRecordsMax &&
         size == area_offset(head.world_size, head.records);
}

// Hides the bound of `size` from g++, which would copy with `rep movs`: its start-up takes longer than all the rest.
void copy(char* to, std::string_view from) noexcept {
  std::size_t size = from.size();
  asm("" : "+r"(size));
  if (size != 0) std::memcpy(to, from.data(), size);
}

// Returns the number of used bytes of the record. Writes `record.text` only that far.
std::size_t fill(Record& record, const SliceInfo& info) noexcept {
  const std::size_t for_place = std::min(info.place.size(), kPlaceSize);
  const std::string_view name = info.name.substr(0, kTextSize - for_place);
  const std::size_t left = std::min(info.place.size(), kTextSize - name.size());
  const std::string_view place = info.place.substr(info.place.size() - left);
  const std::size_t size = name.size() + place.size();
  if (size % 8 != 0) std::memset(record.text + size / 8 * 8, 0, 8);  // the last word is copied whole
  copy(record.text, name);
  copy(record.text + name.size(), place);
  record.name_size = static_cast<std::uint8_t>(name.size());
  record.place_size = static_cast<std::uint8_t>(place.size());
  record.id = info.id;
  record.peers = info.peers;
  record.line = info.line;
  record.kind = info.kind;
  record.detail = info.detail;
  record.rule = info.rule;
  record.has_more_peers = info.has_more_peers ? 1 : 0;
  return offsetof(Record, text) + size;
}

}  // namespace

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Maps the new memory at the address of the previous one, so that an address just loaded by a thread stays valid.
int Writer::follow(const char* path, int rank) noexcept {
  const base::Fd fd(::open(path, O_RDWR | O_CLOEXEC));
  FileHead head{};
  if (!fd) return errno;
  const std::optional<std::size_t> size = base::sealed_size(fd.get());
  if (!size) return EINVAL;
  if (::pread(fd.get(), &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) return EINVAL;
  if (!is_sound(head, *size, rank)) return EINVAL;
  const bool fits = mask_.load() == head.records - 1;
  void* const before = fits ? head_.load() : nullptr;
  void* const at =
      ::mmap(before, area_size(head.records), PROT_READ | PROT_WRITE, MAP_SHARED | (before != nullptr ? MAP_FIXED : 0),
             fd.get(), static_cast<off_t>(area_offset(rank, head.records)));
  if (at == MAP_FAILED) return errno;
  writing.set();
  memories_.fetch_add(1);
  mask_.store(head.records - 1);
  head_.store(static_cast<AreaHead*>(at));
  cells_.store(reinterpret_cast<Cell*>(static_cast<std::byte*>(at) + kPage), std::memory_order_release);
  return 0;
}

std::uint64_t Writer::put(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  if (writing.is_inherited()) return 0;
  introduce_thread();
  return write(info, begin_ns, end_ns);
}

std::uint64_t Writer::write(const SliceInfo& info, std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  Cell* const cells = cells_.load(std::memory_order_acquire);
  Record record;
  const std::size_t size = fill(record, info);
  record.begin_ns = begin_ns;
  record.end_ns = end_ns;
  record.tid = own_tid();
  const std::uint64_t number = head_.load(std::memory_order_relaxed)->taken.fetch_add(1, std::memory_order_relaxed);
  Cell& cell = cells[number & mask_.load(std::memory_order_relaxed)];
  cell.state.store(state_of(number, Stage::Writing), std::memory_order_relaxed);
  const char* const from = reinterpret_cast<const char*>(&record);
  for (std::size_t i = 0; i * sizeof(std::uint64_t) < size; ++i) {
    std::uint64_t word;
    std::memcpy(&word, from + i * sizeof word, sizeof word);
    // Release: a thread that sees this word also sees that the record is being written.
    cell.words[i].store(word, std::memory_order_release);
  }
  cell.state.store(state_of(number, end_ns == 0 ? Stage::Open : Stage::Whole), std::memory_order_release);
  return (memories_.load(std::memory_order_relaxed) << kNumberBits) | ((number + 1) & kNumberMask);
}

void Writer::end(std::uint64_t number) noexcept {
  if (number == 0 || number >> kNumberBits != (memories_.load(std::memory_order_relaxed) & 0xffff)) return;
  if (writing.is_inherited()) return;  // the slice is the parent's
  const std::uint64_t index = (number & kNumberMask) - 1;
  Cell& cell = cells_.load(std::memory_order_acquire)[index & mask_.load(std::memory_order_relaxed)];
  std::uint64_t state = state_of(index, Stage::Open);
  if (cell.state.load(std::memory_order_relaxed) != state) return;
  cell.words[Cell::kEndWord].store(static_cast<std::uint64_t>(now_ns()), std::memory_order_relaxed);
  cell.state.compare_exchange_strong(state, state_of(index, Stage::Whole), std::memory_order_release,
                                     std::memory_order_relaxed);
}

// Records the thread's name once in each memory, with its first slice there.
void Writer::introduce_thread() noexcept {
  static thread_local const Writer* known_by = nullptr;
  static thread_local std::uint64_t memory = 0;
  const std::uint64_t now = memories_.load(std::memory_order_relaxed);
  if (known_by == this && memory == now) return;
  known_by = this;
  memory = now;
  char name[16] = "";
  ::prctl(PR_GET_NAME, name, 0, 0, 0);
  SliceInfo info;
  info.kind = Kind::ThreadName;
  info.name = {name, ::strnlen(name, sizeof name)};
  const std::int64_t time = now_ns();
  write(info, time, time);
}

}  // namespace distrun::trace

#pragma once
// A record in shared memory under a sequence lock: any number of readers, no blocking. The record is stored as relaxed
// atomic words, so that a reader in the middle of a write reads old or new words, but never undefined ones; the
// sequence number tells it that they do not belong together.
//
//   sequence modulo 4   0: empty   1 or 3: being written   2: complete
//
// It only grows. A cell is used in one of two ways: claimed, filled and released (claim, release), so that taking and
// showing it is one atomic exchange; or overwritten repeatedly (try_write).
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace distrun::board {

template <class T>
class SeqCell {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);

 public:
  // Takes an empty cell and shows the first `size` bytes of the record in it; the bytes after them are left over from
  // earlier. Returns false if the cell is taken.
  bool claim(const T& record, std::size_t size = sizeof(T)) noexcept {
    std::uint64_t before = sequence_.load(std::memory_order_relaxed);
    if (before % 4 != 0 || !start(before)) return false;
    put(record, size);
    sequence_.store(before + 2, std::memory_order_release);
    return true;
  }

  // Empties the cell; called by the thread that claimed it.
  void release() noexcept { sequence_.store(sequence_.load(std::memory_order_relaxed) + 2, std::memory_order_release); }

  // Returns how many times it was claimed and released.
  std::uint64_t releases() const noexcept { return sequence_.load(std::memory_order_relaxed) / 4; }

  // Returns false if another thread is writing.
  bool try_write(const T& record) noexcept {
    std::uint64_t before = sequence_.load(std::memory_order_relaxed);
    if (before % 2 != 0 || !start(before)) return false;
    put(record, sizeof(T));
    sequence_.store(before % 4 == 0 ? before + 2 : before + 4, std::memory_order_release);
    return true;
  }

  // Returns nullopt if the cell is empty, or changed during each of a few attempts.
  std::optional<T> read() const noexcept {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint64_t before = sequence_.load(std::memory_order_acquire);
      if (before % 4 == 0) return std::nullopt;
      if (before % 4 != 2) continue;
      const T record = get();
      if (sequence_.load(std::memory_order_relaxed) == before) return record;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kAttempts = 64;
  static constexpr std::size_t kWordSize = sizeof(std::uint64_t);
  static constexpr std::size_t kWords = sizeof(T) / kWordSize;

  bool start(std::uint64_t& before) noexcept {
    return sequence_.compare_exchange_strong(before, before + 1, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // Release: a thread that sees one of these words also sees the odd sequence number stored before.
  void put(const T& record, std::size_t size) noexcept {
    const char* from = reinterpret_cast<const char*>(&record);
    for (std::size_t i = 0; i * kWordSize < size; ++i) {
      std::uint64_t word;
      std::memcpy(&word, from + i * kWordSize, kWordSize);
      words_[i].store(word, std::memory_order_release);
    }
  }
  // Acquire: the sequence number that is compared afterwards is at least as new as the words.
  T get() const noexcept {
    std::array<std::uint64_t, kWords> words;
    for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
    T record;
    std::memcpy(static_cast<void*>(&record), words.data(), sizeof record);
    return record;
  }

  std::atomic<std::uint64_t> sequence_{0};
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};

}  // namespace distrun::board

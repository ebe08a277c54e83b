#pragma once
// A record in shared memory under a sequence lock: one writer at a time, any number of readers, nobody blocks. The
// record travels as relaxed atomic words, so that a reader in the middle of a write reads old or new words, and
// never undefined ones; the sequence number tells it that they do not belong together.
//
//   sequence 0: never written; odd: being written; even: whole
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
  // Whoever calls owns the cell at that moment.
  void write(const T& record) noexcept {
    const std::uint32_t before = sequence_.load(std::memory_order_relaxed);
    sequence_.store(before | 1, std::memory_order_relaxed);
    put(record);
    sequence_.store((before | 1) + 1, std::memory_order_release);
  }

  // What is in the cell is nothing any more; readers see none until the next write().
  void clear() noexcept {
    const std::uint32_t before = sequence_.load(std::memory_order_relaxed);
    sequence_.store(before | 1, std::memory_order_release);
  }

  // For cells that several threads may write: false if another one is at it.
  bool try_write(const T& record) noexcept {
    std::uint32_t before = sequence_.load(std::memory_order_relaxed);
    if ((before & 1) != 0 || !sequence_.compare_exchange_strong(before, before | 1)) return false;
    put(record);
    sequence_.store((before | 1) + 1, std::memory_order_release);
    return true;
  }

  // Nothing if it was never written, or changed under each of a few attempts.
  std::optional<T> read() const noexcept {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint32_t before = sequence_.load(std::memory_order_acquire);
      if (before == 0) return std::nullopt;
      if ((before & 1) != 0) continue;
      const T record = get();
      if (sequence_.load(std::memory_order_relaxed) == before) return record;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kAttempts = 64;
  static constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint64_t);

  // Release: who sees one of these words also sees the odd sequence number that was stored before.
  void put(const T& record) noexcept {
    std::array<std::uint64_t, kWords> words;
    std::memcpy(words.data(), &record, sizeof record);
    for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
  }
  // Acquire: the sequence number that is compared afterwards is at least as new as the words.
  T get() const noexcept {
    std::array<std::uint64_t, kWords> words;
    for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
    T record;
    std::memcpy(static_cast<void*>(&record), words.data(), sizeof record);
    return record;
  }

  std::atomic<std::uint32_t> sequence_{0};
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};

}  // namespace distrun::board

#pragma once
// What a coordinator is at, in memory that it shares with its guard, which reads it once the coordinator is dead.
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace distrun::proc {

// Made before the fork. One writer, one process's one thread.
class WorkNote {
 public:
  WorkNote();  // where the machine denies a page, notes go nowhere
  ~WorkNote();
  WorkNote(const WorkNote&) = delete;
  WorkNote& operator=(const WorkNote&) = delete;

  // Cut after kTextMax bytes. Whoever dies within this has the note before.
  void write(std::string_view text) noexcept;
  std::string read() const;

  static constexpr std::size_t kTextMax = 1000;

 private:
  struct Page {
    std::atomic<std::uint32_t> current;
    struct {
      std::uint32_t size;
      char bytes[kTextMax];
    } texts[2];
  };
  Page* page_ = nullptr;
};

}  // namespace distrun::proc

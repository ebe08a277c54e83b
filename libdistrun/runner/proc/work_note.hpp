#pragma once
// The coordinator's current work, in memory shared with its guard, which reads it once the coordinator is dead.
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace distrun::proc {

// Created before the fork. Written by one thread of one process.
class WorkNote {
 public:
  WorkNote();  // if no page can be mapped, notes are dropped
  ~WorkNote();
  WorkNote(const WorkNote&) = delete;
  WorkNote& operator=(const WorkNote&) = delete;

  // Cuts after kTextMax bytes. If the process dies during the call, the previous note remains.
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

#pragma once
// Keeps the first and the last part of a stream, so that 100 MB of output cost what the cap says.
#include <cstdint>
#include <string>
#include <string_view>

namespace distrun::proc {

// What a report gets of it.
struct Captured {
  std::string text;               // raw bytes; a line in its middle says what was left out
  std::uint64_t bytes_total = 0;  // that were written
  std::uint64_t bytes_dropped = 0;
};

class Capture {
 public:
  // A quarter of `cap` bytes is kept from the beginning, the rest from the end.
  explicit Capture(std::size_t cap);

  void append(std::string_view bytes);
  Captured captured() const { return {text(), total_, dropped()}; }
  std::uint64_t dropped() const noexcept;
  // Beginning, a line that says how much is missing if any is, end.
  std::string text() const;

 private:
  std::size_t head_max_;
  std::size_t tail_max_;
  std::string head_;
  std::string tail_;  // up to twice tail_max_, so that trimming is rare
  std::uint64_t total_ = 0;
};

}  // namespace distrun::proc

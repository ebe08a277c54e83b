#pragma once
// Keeps the first and the last part of a stream, so that 100 MB of output take no more memory than the cap.
#include <cstdint>
#include <string>
#include <string_view>

namespace distrun::proc {

// The captured part, for a report.
struct Captured {
  std::string text;               // raw bytes; a line in the middle says how much was omitted
  std::uint64_t bytes_total = 0;  // bytes written
  std::uint64_t bytes_dropped = 0;
};

class Capture {
 public:
  // Keeps a quarter of `cap` bytes from the beginning, the rest from the end.
  explicit Capture(std::size_t cap);

  void append(std::string_view bytes);
  Captured captured() const { return {text(), total_, dropped()}; }
  std::uint64_t dropped() const noexcept;
  // Returns beginning and end, with a line between them that says how much is missing, if any is.
  std::string text() const;

 private:
  std::size_t head_max_;
  std::size_t tail_max_;
  std::string head_;
  std::string tail_;  // up to twice tail_max_, to trim rarely
  std::uint64_t total_ = 0;
};

}  // namespace distrun::proc

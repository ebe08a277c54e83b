#pragma once
// Takes what ranks write while they run, to show it: a report, for programs.
#include <cstdint>
#include <string_view>

namespace distrun::launch {

enum class Stream : std::uint8_t { Out, Err };

class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // Never waits for the reader. `bytes` are as the rank wrote them, split anywhere.
  virtual void on_output(int rank, Stream stream, std::string_view bytes) = 0;
  // Passes on what it can. Returns whether too much is left, so that the ranks should wait.
  virtual bool is_full() = 0;
};

}  // namespace distrun::launch

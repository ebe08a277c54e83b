#pragma once
// Who takes what ranks write while they run: a report does, for programs.
#include <cstdint>
#include <string_view>

namespace distrun::launch {

enum class Stream : std::uint8_t { Out, Err };

class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // Never waits for the reader. `bytes` as the rank wrote them, cut anywhere.
  virtual void on_output(int rank, Stream stream, std::string_view bytes) = 0;
  // Hands on what it can; whether so much is left that the ranks should wait.
  virtual bool is_full() = 0;
};

}  // namespace distrun::launch

#pragma once
// The log for the operator of the daemon: a line for each run that is accepted, started and ended, and for each
// refusal. On standard error: the journal, a file or a terminal.
#include <memory>
#include <string_view>

namespace distrun::daemon {

enum class LogLevel { Off, Warnings, All };

// Copies share one sink; thread-safe. Texts are data: control characters in them are escaped.
class Log {
 public:
  // Silent.
  Log() noexcept = default;
  // Lines "2026-01-31 13:05:07.123 warning: ..." on standard error.
  static Log to_stderr(LogLevel level);

  void info(std::string_view text) const;
  void warn(std::string_view text) const;

 private:
  class Sink;
  std::shared_ptr<Sink> sink_;
};

}  // namespace distrun::daemon

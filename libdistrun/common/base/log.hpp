#pragma once
// The log facade. Library code logs at debug only; programs say the rest to their users themselves.
// A Log is made in main and handed down: there is no global one, and none exists between fork and exec.
#include <memory>
#include <string_view>

namespace distrun::base {

class Log {
 public:
  // Silent.
  Log() noexcept;
  // Writes lines "distrun[pid] debug: ..." to stderr. Copies share the sink; any thread.
  static Log to_stderr(std::string_view name);

  bool enabled() const noexcept { return static_cast<bool>(sink_); }
  void debug(std::string_view text) const;

 private:
  class Sink;
  std::shared_ptr<Sink> sink_;
};

}  // namespace distrun::base

#include <distrun/runner/daemon/log.hpp>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

#include <distrun/common/base/text.hpp>

namespace distrun::daemon {

class Log::Sink {
 public:
  explicit Sink(LogLevel level) : logger_("distrund", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_level(level == LogLevel::All ? spdlog::level::info : spdlog::level::warn);
    logger_.set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  }

  void write(spdlog::level::level_enum level, std::string_view text) {
    const std::string line = base::one_line(std::string(text));
    logger_.log(level, spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  spdlog::logger logger_;
};

Log Log::to_stderr(LogLevel level) {
  Log log;
  if (level != LogLevel::Off) log.sink_ = std::make_shared<Sink>(level);
  return log;
}

void Log::info(std::string_view text) const {
  if (sink_) sink_->write(spdlog::level::info, text);
}

void Log::warn(std::string_view text) const {
  if (sink_) sink_->write(spdlog::level::warn, text);
}

}  // namespace distrun::daemon

#include <distrun/common/base/log.hpp>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

namespace distrun::base {

class Log::Sink {
 public:
  explicit Sink(std::string name)
      : logger_(std::move(name), std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_level(spdlog::level::debug);
    logger_.set_pattern("%n[%P] %l %H:%M:%S.%e: %v");
  }
  void debug(std::string_view text) { logger_.debug(spdlog::string_view_t(text.data(), text.size())); }

 private:
  spdlog::logger logger_;
};

Log::Log() noexcept = default;

Log Log::to_stderr(std::string_view name) {
  Log log;
  log.sink_ = std::make_shared<Sink>(std::string(name));
  return log;
}

void Log::debug(std::string_view text) const {
  if (sink_) sink_->debug(text);
}

}  // namespace distrun::base

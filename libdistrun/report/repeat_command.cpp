#include <distrun/report/repeat_command.hpp>

#include <cstdio>

#include <distrun/base/text.hpp>

namespace distrun::report {
namespace {

// Spaces would begin another pattern; a terminal would obey a control, or show nothing.
bool must_not_stand(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }

// An id is no pattern: what a filter would read as one is escaped, and what must not stand there
// becomes a `?`, which matches it too.
std::string filter_for(const std::string& id) {
  const bool shows_all = base::printable(id) == id;
  std::string pattern;
  for (const char c : id) {
    if (must_not_stand(c) || (!shows_all && static_cast<unsigned char>(c) >= 0x80)) {
      pattern += '?';
      continue;
    }
    if (c == '*' || c == '?' || c == '\\' || (c == '-' && pattern.empty())) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string seconds(base::Nanoseconds duration) {
  return short_number(static_cast<double>(duration.count()) / 1e9);
}

class CommandLine {
 public:
  explicit CommandLine(std::string program) : text_(base::shell_quoted(program)) {}

  void word(const std::string& text) { text_ += " " + base::shell_quoted(text); }
  void option(const char* name, const std::string& value) {
    text_ += std::string(" ") + name;
    word(value);
  }
  void option_unless(bool is_default, const char* name, const std::string& value) {
    if (!is_default) option(name, value);
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

void add_timeouts(CommandLine& line, const runner::Settings& settings) {
  const runner::Settings usual;
  line.option_unless(settings.timeout == usual.timeout, "--timeout", seconds(settings.timeout));
  line.option_unless(settings.timeout_override.count() == 0, "--timeout-override",
                     seconds(settings.timeout_override));
  line.option_unless(settings.timeout_scale == usual.timeout_scale, "--timeout-scale",
                     short_number(settings.timeout_scale));
}

std::string repeat_program(const runner::Settings& settings) {
  const runner::Settings usual;
  CommandLine line(settings.command_line.empty() ? "distrun" : settings.command_line.front());
  line.word("exec");
  line.option("--world-size", std::to_string(settings.world_size));
  line.option_unless(settings.timeout.count() == 0, "--timeout", seconds(settings.timeout));
  line.option_unless(settings.timeout_scale == 1, "--timeout-scale", short_number(settings.timeout_scale));
  line.option_unless(settings.peer_grace == usual.peer_grace, "--grace", seconds(settings.peer_grace));
  line.option_unless(settings.terminate_grace == usual.terminate_grace, "--kill-after",
                     seconds(settings.terminate_grace));
  line.option_unless(settings.stdin_rank < 0, "--stdin", std::to_string(settings.stdin_rank));
  if (settings.leaks_off) line.word("--leaks=off");
  for (const wire::KeyValue& pair : settings.env) line.option("--env", pair.key + "=" + pair.value);
  line.word("--");
  for (const std::string& word : settings.program) line.word(word);
  return base::printable(line.text());
}

}  // namespace

std::string repeat_command(const runner::Settings& settings, const runner::TestRecord& test) {
  if (!settings.program.empty()) return repeat_program(settings);
  const runner::Settings usual;
  CommandLine line(settings.command_line.empty() ? "distrun" : settings.command_line.front());
  line.option("--world-size", std::to_string(settings.world_size));
  line.option_unless(settings.backend == usual.backend, "--backend", settings.backend);
  line.option_unless(settings.agent == usual.agent, "--agent", settings.agent);
  line.option_unless(settings.gpu_driver == usual.gpu_driver, "--gpu-driver", settings.gpu_driver);
  line.option_unless(settings.gpu_driver != "virtual", "--gpus", std::to_string(settings.gpus));
  line.option_unless(settings.isolation == usual.isolation, "--isolation", settings.isolation);
  add_timeouts(line, settings);
  if (settings.leaks_strict) line.word("--leaks=strict");
  if (settings.leaks_off) line.word("--leaks=off");
  for (const wire::KeyValue& pair : settings.env) line.option("--env", pair.key + "=" + pair.value);
  line.option("--filter", filter_for(test.info.id()));
  line.option("--seed", std::to_string(settings.seed));
  line.word(test.plugin);
  return base::printable(line.text());
}

}  // namespace distrun::report

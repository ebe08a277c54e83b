#include <distrun/runner/report/text/repeat_command.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

// Spaces would begin another pattern; a terminal would execute control characters or hide them.
bool must_not_stand(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }

constexpr char kPrivateTmp[] = "--private-tmp";
constexpr char kFlagIsSet[] = "true";  // no option with a value uses this one

std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string seconds(base::Nanoseconds duration) { return short_number(static_cast<double>(duration.count()) / 1e9); }

// Options with a value other than the default, in the usual order.
class Options {
 public:
  void add(const char* name, std::string value) { options_.push_back({name, std::move(value)}); }
  void add_unless(bool is_default, const char* name, std::string value) {
    if (!is_default) add(name, std::move(value));
  }
  void add_flag_if(bool wanted, const char* name) {
    if (wanted) add(name, kFlagIsSet);
  }
  std::vector<wire::KeyValue> take() { return std::move(options_); }

 private:
  std::vector<wire::KeyValue> options_;
};

// A variable without its value makes the command fail, which is better than a wrong value.
void add_environment(Options& options, const runner::Settings& settings) {
  for (const wire::KeyValue& pair : settings.env) {
    options.add("--env", settings.env_hidden ? pair.key : pair.key + "=" + pair.value);
  }
}

// What ranks of tests and of programs run in.
void add_surroundings(Options& options, const runner::Settings& settings) {
  options.add_unless(settings.hosts.empty(), "--hosts", settings.hosts);
  options.add_unless(settings.launcher.empty(), "--launcher", settings.launcher);
  options.add_unless(settings.per_host == 0, "--per-host", std::to_string(settings.per_host));
  options.add_unless(settings.bind == runner::Bind::None, "--bind", name_of(settings.bind));
  for (const runner::Wrapper& each : settings.wrappers) {
    each.rank < 0 ? options.add("--wrap", each.command)
                  : options.add("--wrap-rank", std::to_string(each.rank) + "=" + each.command);
  }
  options.add_unless(!settings.core, "--core", "on");
  options.add_flag_if(settings.private_tmp, kPrivateTmp);
  add_environment(options, settings);
}

void add_timeouts(Options& options, const runner::Settings& settings) {
  const runner::Settings usual;
  options.add_unless(settings.timeout == usual.timeout, "--timeout", seconds(settings.timeout));
  options.add_unless(settings.timeout_override.count() == 0, "--timeout-override", seconds(settings.timeout_override));
  options.add_unless(settings.timeout_scale == usual.timeout_scale, "--timeout-scale",
                     short_number(settings.timeout_scale));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::string list_text(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& each : texts) out += (out.empty() ? "" : ", ") + quoted(each);
  return "[" + out + "]";
}

std::string override_text(const runner::Override& each) {
  std::string text = "{filter = " + quoted(each.filter);
  if (each.timeout.count() > 0) text += ", timeout = " + quoted(seconds(each.timeout) + "s");
  if (each.retries >= 0) text += ", retries = " + std::to_string(each.retries);
  if (each.world_size > 0) text += ", world-size = " + std::to_string(each.world_size);
  if (!each.tags.empty()) text += ", tags = " + list_text(each.tags);
  if (!each.locks.empty()) text += ", locks = " + list_text(each.locks);
  return text + "}";
}

std::string until_fail(int most) { return "--until-fail=" + std::to_string(most); }

// A failure of a stress run needs the stress again, until it comes.
std::vector<wire::KeyValue> stress_options(const runner::Settings& settings) {
  Options options;
  options.add("--stress", seconds(settings.stress) + "s");
  options.add("--stress-load", stress_load_text(settings));
  options.add("--jobs", std::to_string(settings.jobs));
  options.add_flag_if(true, "--fail-fast");
  return options.take();
}

class CommandLine {
 public:
  explicit CommandLine(const runner::Settings& settings)
      : text_(base::shell_quoted(settings.command_line.empty() ? "distrun" : settings.command_line.front())) {}
  void add(const std::string& word) { text_ += " " + base::shell_quoted(word); }
  void add(const std::vector<wire::KeyValue>& options) {
    for (const wire::KeyValue& option : options) {
      add(option.key);
      if (option.value != kFlagIsSet) add(option.value);
    }
  }
  std::string text() const { return base::printable(text_); }

 private:
  std::string text_;
};

std::string repeat_program(const runner::Settings& settings) {
  const runner::Settings usual;
  Options options;
  options.add("--world-size", std::to_string(settings.world_size));
  options.add_unless(settings.program_name.empty(), "--name", settings.program_name);
  options.add_unless(settings.timeout.count() == 0, "--timeout", seconds(settings.timeout));
  options.add_unless(settings.timeout_scale == 1, "--timeout-scale", short_number(settings.timeout_scale));
  options.add_unless(settings.peer_grace == usual.peer_grace, "--grace", seconds(settings.peer_grace));
  options.add_unless(settings.terminate_grace == usual.terminate_grace, "--kill-after",
                     seconds(settings.terminate_grace));
  options.add_unless(settings.stop_signal == usual.stop_signal, "--stop-signal",
                     base::signal_name(settings.stop_signal));
  options.add_unless(settings.stdin_rank < 0, "--stdin", std::to_string(settings.stdin_rank));
  options.add_unless(!settings.leaks_off, "--leaks", "off");
  options.add_unless(settings.mpi == usual.mpi, "--mpi", name_of(settings.mpi));
  add_surroundings(options, settings);
  CommandLine line(settings);
  line.add("exec");
  line.add(options.take());
  line.add("--");
  for (const std::string& word : settings.program) line.add(word);
  return line.text();
}

bool is_lower_letter(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

std::string filter_for(const std::string& id) {
  const bool shows_all = base::printable(id) == id;
  std::string pattern;
  for (const char c : id) {
    if (must_not_stand(c) || (!shows_all && static_cast<unsigned char>(c) >= 0x80)) {
      pattern += '?';
      continue;
    }
    const bool is_special = std::string_view("*?\\&|!()").find(c) != std::string_view::npos;
    const bool ends_field = c == ':' && std::all_of(pattern.begin(), pattern.end(), is_lower_letter);
    if (is_special || ends_field || (c == '-' && pattern.empty())) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string world_sizes_text(const runner::Settings& settings) {
  if (settings.world_sizes.empty()) return std::to_string(settings.world_size);
  std::string text;
  for (const int size : settings.world_sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

std::string stress_load_text(const runner::Settings& settings) {
  std::string text;
  for (const std::string& kind : settings.stress_load) text += (text.empty() ? "" : ",") + kind;
  return text.empty() ? "none" : text;
}

std::vector<wire::KeyValue> setting_options(const runner::Settings& settings) {
  const runner::Settings usual;
  Options options;
  options.add("--world-size", world_sizes_text(settings));
  options.add_unless(settings.backend == usual.backend, "--backend", settings.backend);
  options.add_unless(settings.agent == usual.agent, "--agent", settings.agent);
  options.add_unless(settings.faults.empty(), "--faults", settings.faults);
  options.add_unless(settings.rpc_transport == usual.rpc_transport, "--rpc-transport", settings.rpc_transport);
  options.add_unless(settings.gpu_driver == usual.gpu_driver, "--gpu-driver", settings.gpu_driver);
  options.add_unless(settings.gpu_driver != "virtual", "--gpus", std::to_string(settings.gpus));
  options.add_unless(settings.isolation == usual.isolation, "--isolation", name_of(settings.isolation));
  add_timeouts(options, settings);
  for (const runner::Override& each : settings.overrides) options.add("--overrides", override_text(each));
  options.add_unless(!settings.leaks_strict, "--leaks", "strict");
  options.add_unless(!settings.leaks_off, "--leaks", "off");
  options.add_unless(!settings.quick_exit, "--exit", "quick");
  add_surroundings(options, settings);
  return options.take();
}

std::string repeat_command(const runner::Settings& settings, const runner::TestRecord& test) {
  if (!settings.program.empty()) return repeat_program(settings);
  CommandLine line(settings);
  // Excludes the rest of the settings file; the values of the options below are already resolved.
  if (!settings.config.empty()) line.add("--config=none");
  runner::Settings of_test = settings;
  if (test.info.has_size_in_id) {
    of_test.world_size = test.variant.world_size;
    of_test.world_sizes.clear();
  }
  line.add(setting_options(of_test));
  if (settings.until_fail > 0) line.add(until_fail(settings.until_fail));
  if (settings.stress.count() > 0) line.add(stress_options(settings));
  line.add("--filter");
  line.add(filter_for(test.info.id_in_plugin()));
  line.add("--seed");
  line.add(std::to_string(settings.seed));
  line.add(test.plugin);
  return line.text();
}

}  // namespace distrun::report

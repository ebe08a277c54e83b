#include <distrun/runtime/profiler/chrome_trace.hpp>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/file_size_signal.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::profiler {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char each : base::valid_utf8(text)) {
    if (each == '"' || each == '\\') {
      out += '\\';
      out += each;
    } else if (static_cast<unsigned char>(each) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(each));
      out += code;
    } else {
      out += each;
    }
  }
  return out + '"';
}

// Formats a time in microseconds, the unit of the format.
std::string microseconds(base::Nanoseconds time) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(time.count() / 1000),
                static_cast<long long>(time.count() % 1000));
  return text;
}

template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::string out = "[";
  for (const std::int64_t each : numbers) out += (out.size() == 1 ? "" : ", ") + std::to_string(each);
  return out + "]";
}

// {"name": value, ...}
class Object {
 public:
  void add(const std::string& name, const std::string& value) {
    text_ += (text_.size() == 1 ? "" : ", ") + quoted(name) + ": " + value;
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string arguments_of(const Event& event) {
  Object arguments;
  if (event.node >= 0) arguments.add("node", std::to_string(event.node));
  if (event.is_remote) arguments.add("remote", "true");
  if (event.is_async) arguments.add("async", "true");
  if (event.sequence != 0) arguments.add("sequence", std::to_string(event.sequence));
  if (!event.input_shapes.empty()) {
    std::string shapes = "[";
    for (const auto& each : event.input_shapes) shapes += (shapes.size() == 1 ? "" : ", ") + list_of(each);
    arguments.add("input shapes", shapes + "]");
  }
  if (event.cpu_memory != 0) arguments.add("cpu memory", std::to_string(event.cpu_memory));
  if (event.device_memory != 0) arguments.add("device memory", std::to_string(event.device_memory));
  for (const auto& [name, text] : event.notes) arguments.add(name, quoted(text));
  return arguments.text();
}

std::string entry(const std::string& name, base::TimePoint begin, base::Nanoseconds duration, const std::string& lane,
                  const std::string& process, const std::string& arguments) {
  Object entry;
  entry.add("name", quoted(name));
  entry.add("ph", "\"X\"");
  entry.add("ts", microseconds(begin.time_since_epoch()));
  entry.add("dur", microseconds(duration));
  entry.add("tid", lane);
  entry.add("pid", quoted(process));
  entry.add("args", arguments);
  return entry.text();
}

// Threads of other workers have separate lanes.
std::string lane_of(const Event& event) {
  if (!event.is_remote) return std::to_string(event.thread);
  return quoted("node " + std::to_string(event.node) + ", thread " + std::to_string(event.thread));
}

}  // namespace

std::string chrome_trace(const Events& events, TraceForm form) {
  std::string lines;
  const auto add = [&](const std::string& line) { lines += (lines.empty() ? "\n" : ",\n") + line; };
  for (const Event& each : events) {
    add(entry(each.name, each.begin, each.duration(), lane_of(each), "CPU functions", arguments_of(each)));
    for (const Kernel& kernel : each.kernels) {
      add(entry(kernel.name, each.begin, kernel.duration, std::to_string(kernel.device), "CUDA functions", "{}"));
    }
  }
  return form == TraceForm::List ? "[" + lines + "\n]\n" : "{\"traceEvents\": [" + lines + "\n]}\n";
}

void write_chrome_trace(const std::string& path, const Events& events, TraceForm form) {
  const std::string text = chrome_trace(events, form);
  const base::NoFileSizeSignal no_signal;
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    base::throw_errno("cannot write the trace " + path + ", which has " + std::to_string(text.size()) + " bytes",
                      errno);
  }
}

}  // namespace distrun::profiler

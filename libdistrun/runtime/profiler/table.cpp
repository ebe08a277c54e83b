// The table of averages in the customary form.
#include <algorithm>
#include <cstdio>
#include <functional>

#include <distrun/runtime/profiler/averages.hpp>

namespace distrun::profiler {
namespace {

using Nanoseconds = base::Nanoseconds;

constexpr std::size_t kWidestName = 100;

struct Column {
  std::string title;
  std::function<std::string(const Average&)> text;
};

std::string number(double value, const char* unit) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f%s", value, unit);
  return text;
}

std::string time_text(Nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  if (ns >= 1e9) return number(ns / 1e9, "s");
  if (ns >= 1e6) return number(ns / 1e6, "ms");
  return number(ns / 1e3, "us");
}

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  const double size = value < 0 ? -value : value;
  char text[40];
  if (size >= 1 << 30) {
    std::snprintf(text, sizeof text, "%.2f Gb", value / (1 << 30));
  } else if (size >= 1 << 20) {
    std::snprintf(text, sizeof text, "%.2f Mb", value / (1 << 20));
  } else if (size >= 1 << 10) {
    std::snprintf(text, sizeof text, "%.2f Kb", value / (1 << 10));
  } else {
    std::snprintf(text, sizeof text, "%lld b", static_cast<long long>(bytes));
  }
  return text;
}

std::string percent(Nanoseconds part, Nanoseconds whole) {
  if (whole.count() == 0) return "NaN";
  char text[40];
  std::snprintf(text, sizeof text, "%.2f%%",
                100 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
  return text;
}

std::string shapes_text(const Average& average) {
  std::string text = "[";
  for (const auto& shape : average.input_shapes) {
    text += text.size() == 1 ? "[" : ", [";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    text += "]";
  }
  return text + "]";
}

// Keeps the end of a long name, which says what it is; the beginning says which call it belongs to.
std::string short_name(const std::string& name) {
  if (name.size() <= kWidestName) return name;
  return "..." + name.substr(name.size() - kWidestName + 3);
}

template <class Of>
Nanoseconds sum_of(const Averages& averages, Of of) {
  Nanoseconds sum{};
  for (const Average& each : averages) sum += of(each);
  return sum;
}

Nanoseconds self_cpu(const Average& each) { return each.self_cpu_time; }
Nanoseconds self_device(const Average& each) { return each.self_device_time; }

std::vector<Column> columns_of(const Averages& all) {
  const auto any = [&](auto has) { return std::any_of(all.begin(), all.end(), has); };
  const Nanoseconds cpu = sum_of(all, self_cpu), device = sum_of(all, self_device);
  std::vector<Column> columns{
      {"Name", [](const Average& a) { return short_name(a.name); }},
      {"Self CPU %", [cpu](const Average& a) { return percent(a.self_cpu_time, cpu); }},
      {"Self CPU", [](const Average& a) { return time_text(a.self_cpu_time); }},
      {"CPU total %", [cpu](const Average& a) { return percent(a.cpu_time, cpu); }},
      {"CPU total", [](const Average& a) { return time_text(a.cpu_time); }},
      {"CPU time avg", [](const Average& a) { return time_text(a.cpu_time_average()); }},
  };
  if (any([](const Average& a) { return a.device_time.count() != 0; })) {
    columns.push_back({"Self CUDA", [](const Average& a) { return time_text(a.self_device_time); }});
    columns.push_back({"Self CUDA %", [device](const Average& a) { return percent(a.self_device_time, device); }});
    columns.push_back({"CUDA total", [](const Average& a) { return time_text(a.device_time); }});
    columns.push_back({"CUDA time avg", [](const Average& a) { return time_text(a.device_time_average()); }});
  }
  if (any([](const Average& a) { return a.cpu_memory != 0; })) {
    columns.push_back({"CPU Mem", [](const Average& a) { return bytes_text(a.cpu_memory); }});
    columns.push_back({"Self CPU Mem", [](const Average& a) { return bytes_text(a.self_cpu_memory); }});
  }
  if (any([](const Average& a) { return a.device_memory != 0; })) {
    columns.push_back({"CUDA Mem", [](const Average& a) { return bytes_text(a.device_memory); }});
    columns.push_back({"Self CUDA Mem", [](const Average& a) { return bytes_text(a.self_device_memory); }});
  }
  columns.push_back({"# of Calls", [](const Average& a) { return std::to_string(a.count); }});
  if (any([](const Average& a) { return a.node >= 0; })) {
    columns.push_back({"Node ID", [](const Average& a) { return std::to_string(a.node); }});
  }
  if (any([](const Average& a) { return !a.input_shapes.empty(); })) columns.push_back({"Input Shapes", shapes_text});
  return columns;
}

bool is_before(const Average& a, const Average& b, SortBy sort) {
  switch (sort) {
    case SortBy::SelfCpuTime: return a.self_cpu_time > b.self_cpu_time;
    case SortBy::CpuTime: return a.cpu_time > b.cpu_time;
    case SortBy::DeviceTime: return a.device_time > b.device_time;
    case SortBy::CpuMemory: return a.cpu_memory > b.cpu_memory;
    case SortBy::Count: return a.count > b.count;
    case SortBy::Name: return a.name < b.name;
  }
  return false;
}

using Cells = std::vector<std::string>;

std::string line_of(const Cells& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) line += "  ";
    line += std::string(widths[i] - cells[i].size(), ' ') + cells[i];
  }
  return line + "\n";
}

}  // namespace

std::string table(Averages averages, SortBy sort, std::size_t lines) {
  const std::vector<Column> columns = columns_of(averages);
  const Nanoseconds cpu = sum_of(averages, self_cpu), device = sum_of(averages, self_device);
  std::stable_sort(averages.begin(), averages.end(),
                   [&](const Average& a, const Average& b) { return is_before(a, b, sort); });
  if (lines != 0 && averages.size() > lines) averages.resize(lines);
  std::vector<Cells> rows(1);
  for (const Column& each : columns) rows.front().push_back(each.title);
  for (const Average& average : averages) {
    rows.emplace_back();
    for (const Column& each : columns) rows.back().push_back(each.text(average));
  }
  std::vector<std::size_t> widths(columns.size());
  Cells rule;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const Cells& row : rows) widths[i] = std::max(widths[i], row[i].size());
    rule.emplace_back(widths[i], '-');
  }
  std::string text = line_of(rule, widths) + line_of(rows.front(), widths) + line_of(rule, widths);
  for (std::size_t i = 1; i < rows.size(); ++i) text += line_of(rows[i], widths);
  text += line_of(rule, widths) + "Self CPU time total: " + time_text(cpu) + "\n";
  if (device.count() != 0) text += "Self CUDA time total: " + time_text(device) + "\n";
  return text;
}

}  // namespace distrun::profiler

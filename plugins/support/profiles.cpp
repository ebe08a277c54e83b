#include "profiles.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace distrun::suites {
namespace {

bool is_of_device_only(const profiler::Event& event) {
  return !event.kernels.empty() && event.duration() == base::Nanoseconds(0);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

const profiler::Event& get_function_event(const profiler::Events& events, const std::string& part_of_name) {
  for (const profiler::Event& each : events) {
    if (each.name.find(part_of_name) != std::string::npos) return each;
  }
  std::string names;
  for (const profiler::Event& each : events) names += (names.empty() ? "" : ", ") + each.name;
  throw Error(ErrorKind::InvalidArgument, "IndexError",
              "no event has \"" + part_of_name + "\" in its name; there are: " + (names.empty() ? "none" : names));
}

profiler::Events get_profiling_event(const std::string& name, const profiler::Events& events,
                                     bool dedup_gpu_user_annotation) {
  profiler::Events found;
  for (const profiler::Event& each : events) {
    if (!each.name.starts_with(name) && !each.name.ends_with(name)) continue;
    if (!dedup_gpu_user_annotation || !is_of_device_only(each)) found.push_back(each);
  }
  return found;
}

std::vector<Json> get_profiler_nccl_meta(const Rank& rank, const profiler::Profile& profile) {
  const std::string path = std::string(rank.work_dir()) + "/profile.json";
  profiler::write_chrome_trace(path, profile.events(), profiler::TraceForm::Object);
  std::cout << "Trace saved to " + path + "\n" << std::flush;
  const Json trace = read_json(text_of(path));
  std::remove(path.c_str());
  std::vector<Json> found;
  for (const Json& each : trace.at("traceEvents").items) {
    if (each.at("name").text == "record_param_comms") found.push_back(each);
  }
  return found;
}

}  // namespace distrun::suites

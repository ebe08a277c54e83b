#include "cmake_tests.hpp"

#include <algorithm>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>

namespace distrun::cli {
namespace {

// CMake takes the text between such brackets as it is. The number of signs must not occur in the text itself.
std::string bracketed(const std::string& text) {
  std::string signs = "==";
  while (text.find("]" + signs + "]") != std::string::npos) signs += '=';
  return "[" + signs + "[" + text + "]" + signs + "]";
}

// A ';' separates the elements of lists of CMake.
std::string element(std::string text) {
  std::replace(text.begin(), text.end(), ';', ',');
  return bracketed(text);
}

std::string call_of(const runner::PlannedTest& test) {
  const wire::TestInfo& info = test.info;
  std::string call = "distrun_add_test(" + bracketed(test.id) + " " + std::to_string(std::max(info.world_size, 1)) +
                     " FILTER " + bracketed(report::filter_for(info.id_in_plugin()));
  if (!info.file.empty()) call += " SOURCE " + bracketed(info.file + ":" + std::to_string(info.line));
  if (info.timeout_ms > 0) call += " TIMEOUT " + std::to_string((info.timeout_ms + 999) / 1000);
  if (info.devices > 0) call += " DEVICES " + std::to_string(info.devices);
  if (!info.tags.empty()) call += " LABELS";
  for (const std::string& tag : info.tags) call += " " + element(tag);
  if (!info.locks.empty()) call += " LOCKS";
  for (const std::string& lock : info.locks) call += " " + element(lock);
  return call + ")\n";
}

}  // namespace

std::string cmake_calls(const std::vector<runner::PlannedTest>& tests) {
  std::string calls;
  for (const runner::PlannedTest& test : tests) calls += call_of(test);
  return calls;
}

}  // namespace distrun::cli

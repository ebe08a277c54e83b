#include "layout.hpp"

#include <charconv>
#include <iterator>

namespace distrun::probe::python {
namespace {

using enum FrameKind;
using enum LineFormat;

constexpr Layout k38{.minor = 8,
                     .frame_kind = Object,
                     .line_format = Increments,
                     .runtime_interpreters = 32,
                     .runtime_gil = 1152,
                     .interpreter_next = 0,
                     .interpreter_threads = 8,
                     .interpreter_gil = -1,
                     .interpreter_modules = -1,
                     .thread_frame = 24,
                     .cframe_frame = -1,
                     .thread_handle = 176,
                     .thread_native = -1,
                     .frame_previous = 24,
                     .frame_code = 32,
                     .frame_instruction = 104,
                     .frame_kind_at = -1,
                     .frame_head = -1,
                     .code_name = 112,
                     .code_file = 104,
                     .code_table = 120,
                     .code_line = 40,
                     .code_bytecode = -1,
                     .text_ascii = 48,
                     .text_compact = 72};

constexpr Layout make39() {
  Layout layout = k38;
  layout.minor = 9;
  layout.runtime_gil = 352;
  return layout;
}

constexpr Layout make310() {
  Layout layout = make39();
  layout.minor = 10;
  layout.line_format = Ranges;
  layout.frame_instruction = 96;
  return layout;
}

constexpr Layout k311{.minor = 11,
                      .frame_kind = Marked,
                      .line_format = Locations,
                      .runtime_interpreters = 40,
                      .runtime_gil = 360,
                      .interpreter_next = 0,
                      .interpreter_threads = 16,
                      .interpreter_gil = -1,
                      .interpreter_modules = 888,
                      .thread_frame = 56,
                      .cframe_frame = 8,
                      .thread_handle = 152,
                      .thread_native = 160,
                      .frame_previous = 48,
                      .frame_code = 32,
                      .frame_instruction = 56,
                      .frame_kind_at = 68,
                      .frame_head = 72,
                      .code_name = 128,
                      .code_file = 112,
                      .code_table = 136,
                      .code_line = 72,
                      .code_bytecode = 184,
                      .text_ascii = 48,
                      .text_compact = 72};

constexpr Layout make312() {
  Layout layout = k311;
  layout.minor = 12;
  layout.frame_kind = Shim;
  layout.runtime_gil = -1;
  layout.interpreter_threads = 72;
  layout.interpreter_gil = 384;
  layout.interpreter_modules = -1;
  layout.cframe_frame = 0;
  layout.thread_handle = 136;
  layout.thread_native = 144;
  layout.frame_previous = 8;
  layout.frame_code = 0;
  layout.frame_kind_at = 70;
  layout.code_line = 68;
  layout.code_bytecode = 192;
  layout.text_ascii = 40;
  layout.text_compact = 56;
  return layout;
}

constexpr Layout make313() {
  Layout layout = make312();
  layout.minor = 13;
  layout.runtime_interpreters = 632;
  layout.interpreter_next = 7264;
  layout.interpreter_threads = 7344;
  layout.interpreter_gil = 16;
  layout.thread_frame = 72;
  layout.cframe_frame = -1;
  layout.thread_handle = 152;
  layout.thread_native = 160;
  layout.code_bytecode = 200;
  return layout;
}

constexpr Layout kLayouts[] = {k38, make39(), make310(), k311, make312(), make313()};
constexpr int kFirstMinor = 8;
constexpr int kLastMinor = kFirstMinor + static_cast<int>(std::size(kLayouts)) - 1;

#if defined(__x86_64__)
constexpr bool kKnowsProcessor = true;
#else
constexpr bool kKnowsProcessor = false;
#endif

std::string range_text() { return "3." + std::to_string(kFirstMinor) + " to 3." + std::to_string(kLastMinor); }

}  // namespace

const Layout* find_layout(const Version& version) {
  if (!why_not(version).empty()) return nullptr;
  return &kLayouts[version.minor - kFirstMinor];
}

std::string why_not(const Version& version) {
  if (!kKnowsProcessor) return "Python lines are read on x86-64 only";
  if (version.major == 0) return "the version of this Python is not known; Python lines are read from " + range_text();
  const std::string name = "Python " + std::to_string(version.major) + "." + std::to_string(version.minor);
  const bool is_known = version.major == 3 && version.minor >= kFirstMinor && version.minor <= kLastMinor;
  if (!is_known) return "the lines of " + name + " are not read; those of " + range_text() + " are";
  if (version.debug) return "the lines of a debug build of " + name + " are not read; those of usual builds are";
  if (version.free_threaded) return "the lines of a free-threaded " + name + " are not read; those of usual builds are";
  return "";
}

Version version_in_name(const std::string& file) {
  constexpr std::string_view kName = "python";
  const std::size_t at = file.find(kName);
  if (at == std::string::npos) return {};
  Version version;
  const char* const end = file.data() + file.size();
  const auto major = std::from_chars(file.data() + at + kName.size(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc{}) return {};
  for (const char* flag = minor.ptr; flag != end && *flag != '.'; ++flag) {
    version.debug = version.debug || *flag == 'd';
    version.free_threaded = version.free_threaded || *flag == 't';
  }
  return version;
}

}  // namespace distrun::probe::python

#include <distrun/runner/report/trace/trace_files.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/report/files/whole_file.hpp>
#include <distrun/runner/report/trace/chrome_trace.hpp>

namespace distrun::report {
namespace {

constexpr std::size_t kNameMax = 200;  // leaves room for suffixes within the limit of file systems

bool is_plain(char letter) {
  constexpr std::string_view kOthers = "._=,+-@";
  const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  return is_letter || (letter >= '0' && letter <= '9') || kOthers.find(letter) != kOthers.npos;
}

}  // namespace

std::string file_name_of(const std::string& test) {
  std::string name = test.substr(0, kNameMax);
  for (char& letter : name) {
    if (!is_plain(letter)) letter = '_';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(name.begin(), '_');
  return name;
}

// Numbers distinguish tests that differ only in characters that file names cannot show, and tests of two plugins.
const std::string& TraceFiles::stem_of(const runner::TracedAttempt& traced) {
  const auto [found, is_new] = stems_.emplace(traced.plugin + '\n' + traced.test, "");
  if (!is_new) return found->second;
  const std::string name = file_name_of(traced.test);
  const int count = ++names_[name];
  return found->second = count == 1 ? name : name + "." + std::to_string(count);
}

std::string TraceFiles::write(const runner::TracedAttempt& traced) {
  try {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) throw Error(ErrorKind::Failed, "cannot create the directory " + directory_ + ": " + error.message());
    std::string path = directory_ + "/" + stem_of(traced);
    if (traced.attempt.n > 1) path += ".attempt" + std::to_string(traced.attempt.n);
    path += ".json";
    write_whole_file(path, chrome_trace(traced));
    return path;
  } catch (const std::exception& error) {
    miss(error.what());
    return "";
  }
}

void TraceFiles::miss(const std::string& why) {
  if (failure_.empty()) failure_ = "no trace: " + why;
}

}  // namespace distrun::report

#pragma once
// A file of appended lines that is valid at any moment: each line is one write, and a line that does not fit is removed
// entirely. After SIGKILL or on a full disk the file still consists of whole lines.
#include <string>
#include <string_view>

#include <distrun/runner/report/files/destination.hpp>
#include <distrun/runner/report/files/outlet.hpp>

namespace distrun::report {

class LineFile {
 public:
  // Creates or truncates `path`; "-" and devices are written directly, at the reader's pace. Throws Error{Failed}.
  explicit LineFile(const std::string& path);
  // Gives a slow reader a second to take the rest.
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` ends in a newline. After the first failure lines are dropped. SIGXFSZ and SIGPIPE must be ignored.
  void append(std::string_view line);

  // Returns "cannot write events.ndjson: No space left on device (ENOSPC)"; empty: no error.
  const std::string& error() const noexcept { return error_; }

 private:
  void append_to_own(std::string_view line);
  void fail(int number);

  std::string path_;
  Destination destination_;
  Outlet outlet_;       // used for all but regular files
  long long size_ = 0;  // of all complete lines
  std::string error_;
};

}  // namespace distrun::report

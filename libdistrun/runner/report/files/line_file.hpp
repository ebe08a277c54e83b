#pragma once
// A file to which lines are appended so that it is valid at any moment: each line is one write, and
// a line that does not fit is taken back whole. A run killed by SIGKILL or a disk that fills up
// leaves a file of whole lines.
#include <string>
#include <string_view>

#include <distrun/runner/report/files/destination.hpp>
#include <distrun/runner/report/files/outlet.hpp>

namespace distrun::report {

class LineFile {
 public:
  // Creates or empties `path`; "-" and devices are written as they are, at their reader's pace.
  // Throws Error{Failed}.
  explicit LineFile(const std::string& path);
  // Gives a slow reader a second to take the rest.
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` ends in its newline. After the first failure lines are dropped.
  // SIGXFSZ and SIGPIPE are the program's to ignore; then they are failures like others.
  void append(std::string_view line);

  // "cannot write events.ndjson: No space left on device (ENOSPC)"; empty: nothing went wrong.
  const std::string& error() const noexcept { return error_; }

 private:
  void append_to_own(std::string_view line);
  void fail(int number);

  std::string path_;
  Destination destination_;
  Outlet outlet_;       // used for all but files of our own
  long long size_ = 0;  // of all whole lines
  std::string error_;
};

}  // namespace distrun::report

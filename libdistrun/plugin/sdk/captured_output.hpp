#pragma once
// Captures what a part of a test prints, as text.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun {

// While it lives, output of the process to stdout and stderr goes here instead of the report: from std::cout, printf
// and bare descriptors, and from child processes. Its destructor restores both streams. One at a time per process;
// ranks that are threads share the streams.
class CapturedOutput {
 public:
  // Throws Error{Failed} if no descriptor is left; then the streams are unchanged.
  CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput();

  // Returns everything written to stdout so far. Throws Error{Overloaded} beyond 16 MiB.
  std::string out() const;
  // Returns everything written to stderr so far. Throws as out().
  std::string err() const;

 private:
  // The capture file of a descriptor, and its previous target.
  struct Stream {
    explicit Stream(int number);
    ~Stream();
    std::string text() const;

    int number;
    base::Fd file;
    base::Fd before;
  };

  Stream out_;
  Stream err_;
};

}  // namespace distrun

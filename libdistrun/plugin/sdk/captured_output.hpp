#pragma once
// What a part of a test prints, as text.
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun {

// While it lives, what the process writes to standard output and standard error is kept here and not in the report:
// std::cout, printf and bare descriptors alike, of child processes too. Afterwards both lead where they led before.
// One at a time in a process; ranks that are threads share their streams.
class CapturedOutput {
 public:
  // Throws Error{Failed} if descriptors have run out; the streams are as they were then.
  CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput();

  // All that was written so far. Throws Error{Overloaded} if that is more than 16 MiB.
  std::string out() const;
  std::string err() const;

 private:
  // A descriptor's file and where it led before.
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

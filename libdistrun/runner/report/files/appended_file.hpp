#pragma once
// A file that several programs append to in turn, such as the step summary of GitHub Actions.
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/base/fd.hpp>

namespace distrun::report {

class AppendedFile {
 public:
  // Creates the file if it does not exist. Throws Error{Failed} "cannot add to PATH: REASON".
  explicit AppendedFile(const std::string& path);

  // Returns the file's size when it was opened; 0 unless it is a regular file.
  std::size_t size() const noexcept { return size_; }
  // Appends all of `content` or nothing. Throws Error{Failed}.
  void append(std::string_view content);

 private:
  [[noreturn]] void fail(int number) const;

  std::string path_;
  base::Fd fd_;
  bool regular_ = false;
  std::size_t size_ = 0;
};

}  // namespace distrun::report

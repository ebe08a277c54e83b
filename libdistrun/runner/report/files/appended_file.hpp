#pragma once
// A file to which several programs add, one after the other, such as the summary of a step of GitHub Actions.
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/base/fd.hpp>

namespace distrun::report {

class AppendedFile {
 public:
  // Creates it if it is not there. Throws Error{Failed} "cannot add to PATH: REASON".
  explicit AppendedFile(const std::string& path);

  // Bytes that are there already; 0 of what is no regular file.
  std::size_t size() const noexcept { return size_; }
  // All of `content` or nothing. Throws Error{Failed}.
  void append(std::string_view content);

 private:
  [[noreturn]] void fail(int number) const;

  std::string path_;
  base::Fd fd_;
  bool regular_ = false;
  std::size_t size_ = 0;
};

}  // namespace distrun::report

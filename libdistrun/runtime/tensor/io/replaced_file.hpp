#pragma once
// A file that is written beside another, and takes its place as a whole.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::tensor {

// Until take_place() the path has what it had; without it, what was written goes. All throw Error{Failed} "cannot write
// PATH: why".
class ReplacedFile {
 public:
  // A link stays a link: what it leads to is replaced, and keeps its mode. What is there and no regular file is
  // refused.
  explicit ReplacedFile(const std::string& path);
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // When the bytes are on the disk. Nothing is written afterwards.
  void take_place();

 private:
  [[noreturn]] void fail(int number) const;

  const std::string path_;
  const std::filesystem::path target_, temporary_;
  base::Fd fd_;  // none: it has taken its place
};

}  // namespace distrun::tensor

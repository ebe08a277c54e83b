#pragma once
// A file that is written beside another, and takes its place as a whole.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::base {

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
  // For who writes otherwise.
  int fd() const noexcept { return fd_.get(); }

  // Yes: it returns when the bytes are on the disk, and is there after a loss of power.
  enum class Sync { No, Yes };
  // Nothing is written afterwards.
  void take_place(Sync sync);

 private:
  [[noreturn]] void fail(int number) const;

  const std::string path_;
  const std::filesystem::path target_, temporary_;
  base::Fd fd_;  // none: it has taken its place
};

}  // namespace distrun::base

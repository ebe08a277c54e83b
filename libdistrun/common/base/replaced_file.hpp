#pragma once
// Writes a file beside its target and then replaces the target atomically.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <distrun/common/base/fd.hpp>

namespace distrun::base {

// Until take_place() the target is unchanged; without take_place(), the written data is discarded. All members throw
// Error{Failed} "cannot write PATH: why".
class ReplacedFile {
 public:
  // A symbolic link stays a link: the file that it points to is replaced and keeps its mode. Refuses a target that
  // exists and is not a regular file.
  explicit ReplacedFile(const std::string& path);
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Used by callers that write by other means.
  int fd() const noexcept { return fd_.get(); }

  // Yes: return once the bytes are on the disk, so that the file survives a loss of power.
  enum class Sync { No, Yes };
  // Writes are not allowed afterwards.
  void take_place(Sync sync);

 private:
  [[noreturn]] void fail(int number) const;

  const std::string path_;
  const std::filesystem::path target_, temporary_;
  base::Fd fd_;  // empty once the file has taken its place
};

}  // namespace distrun::base

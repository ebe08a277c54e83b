#pragma once
// A temporary directory for a test, and files in it; golden files of the tests.
#include <string>

namespace distrun::report::samples {

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  const std::string& directory() const noexcept { return directory_; }

 private:
  std::string directory_;
};

// Returns an empty text if the file does not exist.
std::string content_of(const std::string& path);
// Returns the names of a directory's files, each followed by a space.
std::string listing_of(const std::string& directory);

// Returns the content of tests/golden/report/NAME; with DISTRUN_UPDATE_GOLDEN=1 it is first replaced by `now`.
std::string golden(const std::string& name, const std::string& now);

}  // namespace distrun::report::samples

#pragma once
// A directory that goes away with its test, and files in it; golden files beside the tests.
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

// Empty if there is none.
std::string content_of(const std::string& path);
// The names of a directory's files, with a space after each.
std::string listing_of(const std::string& directory);

// The content of tests/golden/report/NAME; with DISTRUN_UPDATE_GOLDEN=1 it is made to be `now`.
std::string golden(const std::string& name, const std::string& now);

}  // namespace distrun::report::samples

#pragma once
// A private directory for one test.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::testing {

// Creates the directory; the destructor removes it with its contents. Its path is short because the names of sockets
// are limited.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const noexcept { return path_; }
  // Creates the sub-directory `name`; returns its path.
  std::string directory(std::string_view name) const;

 private:
  std::string path_;
};

// Returns the whole file; empty if it does not exist.
std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view text);
// Returns whether the path exists; does not follow links.
bool exists(const std::string& path);
// Returns the names in a directory, sorted.
std::vector<std::string> names_in(const std::string& path);

}  // namespace distrun::testing

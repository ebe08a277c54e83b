#pragma once
// A directory of its own for one test.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::testing {

// Made by the constructor, removed with all it holds by the destructor. Its path is short, because the
// names of sockets in it are.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const noexcept { return path_; }
  // Makes the sub-directory `name`; returns its path.
  std::string directory(std::string_view name) const;

 private:
  std::string path_;
};

// The whole file; empty if there is none.
std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view text);
// Whether there is anything of that name; links are not followed.
bool exists(const std::string& path);
// The names in a directory, sorted.
std::vector<std::string> names_in(const std::string& path);

}  // namespace distrun::testing

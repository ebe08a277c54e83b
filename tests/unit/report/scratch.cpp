#include "scratch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace distrun::report::samples {
namespace fs = std::filesystem;

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "distrun-report-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
  directory_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string listing_of(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.insert(entry.path().filename().string());
  }
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

std::string golden(const std::string& name, const std::string& now) {
  const fs::path directory = fs::path(__FILE__).parent_path() / "../../golden/report";
  const fs::path path = directory.lexically_normal() / name;
  const char* update = std::getenv("DISTRUN_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << now;
  }
  return content_of(path.string());
}

}  // namespace distrun::report::samples

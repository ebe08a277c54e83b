// Runs every file of the given directories through a fuzz target, once. An input that breaks a property aborts.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz.hpp"

namespace {

void run(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::fprintf(stderr, "%s\n", entry.path().c_str());
      run(entry.path());
      ++inputs;
    }
  }
  LLVMFuzzerTestOneInput(nullptr, 0);
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}

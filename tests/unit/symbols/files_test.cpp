// Files with complete, partial or different symbols than those that were loaded.
#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>

#include <distrun/runtime/symbols/stack_text.hpp>

#include "support/process.hpp"
#include "support/scratch.hpp"

namespace distrun::symbols {
namespace {

namespace fs = std::filesystem;
using testing::milliseconds;
using testing::read_file;
using testing::Scratch;
using testing::write_file;

const std::string kNamed = DISTRUN_NAMED;  // in the same directory: named_no_ranges.so, named_no_debug.so

// A library like named.cpp's; loaded until the destructor.
class Loaded {
 public:
  explicit Loaded(const std::string& file) : library_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(library_ != nullptr);
  }
  ~Loaded() { ::dlclose(library_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  // Returns the text of its hidden function, called by the visible one.
  std::string text() const {
    using Function = int (*)(int);
    const auto hidden = reinterpret_cast<Function (*)()>(::dlsym(library_, "named_hidden"))();
    const std::vector<std::uint64_t> pcs{reinterpret_cast<std::uint64_t>(hidden) + 1,
                                         reinterpret_cast<std::uint64_t>(::dlsym(library_, "named_seen")) + 1};
    return stack_text(pcs);
  }

 private:
  void* library_;
};

std::string sibling(const std::string& name) { return fs::path(kNamed).parent_path() / name; }

const std::string kSource = fs::path(__FILE__).parent_path() / "named.cpp";
const std::string kAll =
    "  thrown in named::hidden(int) at " + kSource + ":5\n  called by named_seen at " + kSource + ":8";
const std::string kFunctions = "  thrown in named::hidden(int)\n  called by named_seen";
const std::string kSeenOnly = "  thrown in what has no name\n  called by named_seen";

TEST_CASE("a library has functions and lines, with and without a table of its units' addresses") {
  CHECK(Loaded(kNamed).text() == kAll);
  CHECK(Loaded(sibling("named_no_ranges.so")).text() == kAll);
}

TEST_CASE("a library without debug information has functions") {
  CHECK(Loaded(sibling("named_no_debug.so")).text() == kFunctions);
}

TEST_CASE("an earlier library at the same address is forgotten") {
  CHECK(Loaded(kNamed).text() == kAll);
  CHECK(Loaded(sibling("named_no_debug.so")).text() == kFunctions);
  CHECK(Loaded(kNamed).text() == kAll);
}

// Returns the library with another build id and the same content.
std::string of_another_build(std::string bytes) {
  const std::size_t name = bytes.find(std::string("\x14\0\0\0\3\0\0\0GNU\0", 12));  // 20 bytes, the kind, the owner
  REQUIRE(name != std::string::npos);
  bytes[name + 12] = static_cast<char>(bytes[name + 12] + 1);
  return bytes;
}

TEST_CASE("a file that was replaced since it was loaded is not used, and a removed one is not an error") {
  const Scratch scratch;
  const std::string kept = scratch.path() + "/kept.so", replaced = scratch.path() + "/replaced.so";
  const std::string gone = scratch.path() + "/gone.so", other = scratch.path() + "/other.so";
  for (const std::string& each : {kept, replaced, gone}) fs::copy_file(kNamed, each);
  write_file(other, of_another_build(read_file(kNamed)));
  const Loaded first(kept), second(replaced), third(gone), fourth(other);
  fs::copy_file(other, scratch.path() + "/new.so");
  fs::rename(scratch.path() + "/new.so", replaced);
  fs::remove(gone);
  CHECK(first.text() == kAll);
  CHECK(second.text() == kSeenOnly);
  CHECK(third.text() == kSeenOnly);
  CHECK(fourth.text() == kAll);
}

TEST_CASE("without its module, or with one that cannot be loaded, exported names are shown") {
  const Scratch scratch;
  scratch.directory("bin");
  const std::string program = scratch.path() + "/bin/names_itself";
  const std::string module = scratch.directory("lib") + "/distrun/" + fs::path(DISTRUN_MODULE).filename().string();
  fs::create_directory(scratch.path() + "/lib/distrun");
  fs::copy_file(DISTRUN_NAMES_ITSELF, program);
  const auto told = [&] {
    const testing::Ended ended =
        testing::Running({.program = program, .capture = scratch.path() + "/told"}).wait(milliseconds(20'000));
    CHECK(ended.exit_code == 0);
    CHECK(ended.err == "");
    return ended.out;
  };
  CHECK(told() == "  thrown in what has no name\n  called by seen");
  write_file(module, "no module");
  CHECK(told() == "  thrown in what has no name\n  called by seen");
  fs::copy_file(DISTRUN_MODULE, module, fs::copy_options::overwrite_existing);
  CHECK_THAT(told(), Catch::Matches("  thrown in hidden\\(int\\) at /.*/names_itself.cpp:8\n"
                                    "  called by seen at /.*/names_itself.cpp:9"));
}

}  // namespace
}  // namespace distrun::symbols

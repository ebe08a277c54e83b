#include "names_cache.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "frame_table.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::probe;
using distrun::testing::Scratch;

namespace {

namespace fs = std::filesystem;

constexpr char kId[] = "0123abcd";

NamesCache::Names some_names() {
  return {{0x40, {{"inner()", "a.cpp", 7, true, true}, {"outer()", "b.cpp", 9, false, false}}},
          {0x80, {{"f", "", 0, false, false}}}};
}

bool is_same(const NamesCache::Names& one, const NamesCache::Names& other) {
  const auto same = [](const Function& a, const Function& b) {
    return a.name == b.name && a.file == b.file && a.line == b.line && a.inlined == b.inlined &&
           a.has_linkage_name == b.has_linkage_name;
  };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [&](const auto& a, const auto& b) {
    return a.first == b.first && std::equal(a.second.begin(), a.second.end(), b.second.begin(), b.second.end(), same);
  });
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Sets a variable of the environment; it has its old value again at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// Code with a line of its own in debug information.
[[gnu::noinline]] int code_to_find(int number) { return number + 1; }

// Returns the frames of code_to_find() as a new table with that cache finds them.
std::vector<wire::StackFrame> find_code(const NamesCache& cache) {
  const CodeSpace space(::getpid());
  FrameTable table(cache);
  Frame frame;
  frame.pc = reinterpret_cast<std::uintptr_t>(&code_to_find) + 1;
  table.add(space, frame);
  table.keep_names();
  return table.take_new().frames;
}

}  // namespace

TEST_CASE("names that were kept are there in the next look") {
  const Scratch scratch;
  const std::string folder = scratch.path() + "/new/names";
  NamesCache(folder).write(kId, some_names());
  CHECK(is_same(NamesCache(folder).read(kId), some_names()));
  CHECK(NamesCache(folder).read("4567").empty());
  struct stat found {};
  REQUIRE(::stat(folder.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777U) == 0700);
}

TEST_CASE("a cache without a folder keeps nothing, and neither does a file without a build id") {
  const Scratch scratch;
  NamesCache().write(kId, some_names());
  CHECK(NamesCache().read(kId).empty());
  NamesCache(scratch.path()).write("", some_names());
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("anything may be in a file of the cache") {
  const Scratch scratch;
  const NamesCache cache(scratch.path());
  cache.write(kId, some_names());
  const std::string path = scratch.path() + "/" + kId + ".names";
  const std::string whole = text_of(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(path, whole.substr(0, size));
    CHECK(cache.read(kId).empty());
  }
  put(path, whole + "x");
  CHECK(cache.read(kId).empty());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ '\x81');
    put(path, changed);
    CHECK(cache.read(kId).size() <= 2);
  }
  put(path, whole);
  CHECK(is_same(cache.read(kId), some_names()));
}

TEST_CASE("names of another version are not used") {
  const Scratch scratch;
  const NamesCache cache(scratch.path());
  cache.write(kId, some_names());
  const std::string path = scratch.path() + "/" + kId + ".names";
  std::string text = text_of(path);
  text.replace(text.find("names 1"), 7, "names 0");
  put(path, text);
  CHECK(cache.read(kId).empty());
}

TEST_CASE("files that others could have written are not used") {
  const Scratch scratch;
  const std::string folder = scratch.directory("names");
  const NamesCache cache(folder);
  cache.write(kId, some_names());
  REQUIRE_FALSE(cache.read(kId).empty());
  const std::string path = folder + "/" + kId + ".names";
  SECTION("the folder is open to all") { REQUIRE(::chmod(folder.c_str(), 0777) == 0); }
  SECTION("the file is open to all") { REQUIRE(::chmod(path.c_str(), 0666) == 0); }
  SECTION("the file is a link") {
    fs::rename(path, path + ".other");
    fs::create_symlink(path + ".other", path);
  }
  SECTION("the file is a pipe") {
    fs::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }
  CHECK(cache.read(kId).empty());
}

TEST_CASE("no folder is made in a directory of another user") {
  testing::skip_case_if(::geteuid() != 0, "only root can give a directory away");
  const Scratch scratch;
  const std::string home = scratch.directory("home");
  REQUIRE(::chown(home.c_str(), 1, 1) == 0);
  NamesCache(home + "/.cache/names").write(kId, some_names());
  CHECK(fs::is_empty(home));
}

TEST_CASE("a folder may be named from the current directory, by any user") {
  constexpr uid_t kAnybody = 1;
  const Scratch scratch;
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE((::chown(scratch.path().c_str(), kAnybody, kAnybody) == 0 && ::seteuid(kAnybody) == 0));
  NamesCache("names").write(kId, some_names());
  const bool is_kept = is_same(NamesCache("names").read(kId), some_names());
  if (is_root) REQUIRE(::seteuid(0) == 0);
  fs::current_path(before);
  CHECK(is_kept);
}

TEST_CASE("what was kept first goes when there is much") {
  const Scratch scratch;
  const NamesCache cache(scratch.path());
  constexpr int kMany = 70;
  for (int i = 0; i < kMany; ++i) {
    cache.write(std::to_string(i), some_names());
    // Files that are written within a tick of the clock have the same time.
    const std::string path = scratch.path() + "/" + std::to_string(i) + ".names";
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(i - kMany));
  }
  CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 64);
  CHECK(cache.read("0").empty());
  CHECK_FALSE(cache.read(std::to_string(kMany - 1)).empty());
}

TEST_CASE("the folder is that of a variable, else in the cache of the user") {
  const Variable wish("DISTRUN_NAMES_CACHE", nullptr);
  const Variable cache("XDG_CACHE_HOME", nullptr);
  const Variable home("HOME", "/users/her");
  CHECK(NamesCache::find_folder() == "/users/her/.cache/distrun/names");
  {
    const Variable relative("XDG_CACHE_HOME", "cache");
    CHECK(NamesCache::find_folder() == "/users/her/.cache/distrun/names");
  }
  const Variable absolute("XDG_CACHE_HOME", "/var/cache/her");
  CHECK(NamesCache::find_folder() == "/var/cache/her/distrun/names");
  {
    const Variable off("DISTRUN_NAMES_CACHE", "off");
    CHECK(NamesCache::find_folder().empty());
  }
  const Variable other("DISTRUN_NAMES_CACHE", "names");
  CHECK(NamesCache::find_folder() == "names");
}

TEST_CASE("code that has names in the cache is not looked up again") {
  CHECK(code_to_find(1) == 2);
  const Scratch scratch;
  const NamesCache cache(scratch.path(), base::Nanoseconds::zero());
  const std::vector<wire::StackFrame> found = find_code(cache);
  REQUIRE(found.size() == 1);
  CHECK(found[0].function.find("code_to_find") != std::string::npos);
  REQUIRE(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 1);
  const std::string id = fs::directory_iterator(scratch.path())->path().stem();
  NamesCache::Names names = cache.read(id);
  REQUIRE(names.contains(found[0].offset));
  names[found[0].offset][0].name = "by another name";
  cache.write(id, names);
  CHECK(find_code(cache).at(0).function == "by another name");
}

TEST_CASE("names that are found at once are not kept") {
  const Scratch scratch;
  find_code(NamesCache(scratch.path(), std::chrono::hours(1)));
  CHECK(fs::is_empty(scratch.path()));
}

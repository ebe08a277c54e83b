#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "plt_stubs.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"
#include "symbol_index.hpp"

using namespace distrun;
using namespace distrun::testing;

namespace {

// This program as a module of libdwfl.
class OwnModule {
 public:
  OwnModule() : dwfl_(dwfl_begin(&kCallbacks)) {
    dwfl_report_begin(dwfl_);
    dwfl_linux_proc_report(dwfl_, ::getpid());
    dwfl_report_end(dwfl_, nullptr, nullptr);
  }
  ~OwnModule() { dwfl_end(dwfl_); }
  OwnModule(const OwnModule&) = delete;
  OwnModule& operator=(const OwnModule&) = delete;

  Dwfl_Module* get() const { return dwfl_addrmodule(dwfl_, reinterpret_cast<Dwarf_Addr>(&dwfl_of_own)); }
  std::uint64_t bias() const {
    GElf_Addr bias = 0;
    dwfl_module_getelf(get(), &bias);
    return bias;
  }

 private:
  static void dwfl_of_own() {}
  inline static char* no_debug_path = nullptr;
  static constexpr Dwfl_Callbacks kCallbacks{dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr,
                                             &no_debug_path};
  Dwfl* dwfl_;
};

// Returns the stubs according to binutils, which the linker belongs to: "0000000000015030 <memcpy@plt>:", without
// "@plt".
std::map<std::uint64_t, std::string> stubs_by_objdump() {
  const Scratch scratch;
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");
  const Command command{.program = "/usr/bin/objdump",
                        .arguments = {"--disassemble", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", own},
                        .capture = scratch.path() + "/objdump"};
  std::istringstream lines(Running(command).wait(milliseconds(30'000)).out);
  std::map<std::uint64_t, std::string> stubs;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = line.find('<');
    const std::size_t end = line.find("@plt>:");
    const bool is_named = line.find("*ABS*") == std::string::npos;
    if (is_named && name != std::string::npos && end != std::string::npos)
      stubs[std::strtoull(line.c_str(), nullptr, 16)] = line.substr(name + 1, end - name - 1);
  }
  REQUIRE(stubs.size() > 10);
  return stubs;
}

}  // namespace

#ifdef __x86_64__
TEST_CASE("every stub is named after the function it calls, as by binutils") {
  const OwnModule own;
  const probe::PltStubs stubs(own.get());
  for (const auto& [address, name] : stubs_by_objdump()) {
    INFO(std::hex << address);
    CHECK(stubs.callee_at(own.bias() + address) == name);
    CHECK(stubs.callee_at(own.bias() + address + 5) == name);
  }
}

TEST_CASE("a symbol without a size does not reach into the stubs behind it") {
  const OwnModule own;
  const probe::SymbolIndex symbols(own.get());
  for (const auto& [address, name] : stubs_by_objdump()) CHECK(symbols.find(own.bias() + address) == nullptr);
}
#endif

TEST_CASE("no stub is where a function is") {
  const OwnModule own;
  const probe::PltStubs stubs(own.get());
  CHECK_FALSE(stubs.callee_at(reinterpret_cast<std::uint64_t>(&stubs_by_objdump)));
  CHECK_FALSE(stubs.callee_at(own.bias()));
  CHECK_FALSE(stubs.callee_at(0));
}

#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runtime/collectives/nccl/nccl_line.hpp>
#include <distrun/runtime/core/module.hpp>

#include "support/skip.hpp"

namespace distrun::collectives::nccl_line {
namespace {

void check_ras_address(const Library& library) {
  const bool has_ras = library.version() >= Version{2, 24, 0};
  ::unsetenv("NCCL_RAS_ENABLE");
  ::unsetenv("NCCL_RAS_ADDR");
  CHECK(library.ras_address() == (has_ras ? "localhost:28028" : ""));
  ::setenv("NCCL_RAS_ADDR", "[::1]:4711", 1);
  CHECK(library.ras_address() == (has_ras ? "[::1]:4711" : ""));
  ::setenv("NCCL_RAS_ENABLE", "0", 1);
  CHECK(library.ras_address().empty());
  ::unsetenv("NCCL_RAS_ENABLE");
  ::unsetenv("NCCL_RAS_ADDR");
}

TEST_CASE("the module of NCCL opens without a GPU, and has the library or says why not", "[nccl]") {
  constexpr core::ModuleName kName{"NCCL", kFile, kEntry};
  testing::skip_case_if(!core::has_module(kName), "distrun was built without NCCL's header");
  const core::Module opened = core::open_module(kName);
  INFO(opened.why_none);
  REQUIRE(opened.entry != nullptr);
  const auto* const module = static_cast<const Module*>(opened.entry);
  REQUIRE(module->version == kVersion);
  std::string why_none;
  Library* const library = module->open(why_none);
  INFO(why_none);
  if (library == nullptr) {
    CHECK_THAT(why_none, Catch::StartsWith("there is no NCCL on this machine") || Catch::Contains("too old"));
    return;
  }
  CHECK(why_none.empty());
  CHECK(library->version() >= Version{2, 14, 0});
  CHECK(!library->compares());
  check_ras_address(*library);
}

// A loaded module keeps the first library that it opened, so this case needs a separate process.
TEST_CASE("the module of NCCL names the file that it tried, and what may be set", "[nccl]") {
  constexpr core::ModuleName kName{"NCCL", kFile, kEntry};
  testing::skip_case_if(!core::has_module(kName), "distrun was built without NCCL's header");
  const auto* const module = static_cast<const Module*>(core::open_module(kName).entry);
  REQUIRE(module != nullptr);
  ::setenv("DISTRUN_NCCL", "/nowhere/libnccl.so.2", 1);
  std::string why_none;
  CHECK(module->open(why_none) == nullptr);
  CHECK_THAT(why_none, Catch::StartsWith("there is no NCCL on this machine: /nowhere/libnccl.so.2") &&
                           Catch::EndsWith("DISTRUN_NCCL names this file or its folder"));
  ::unsetenv("DISTRUN_NCCL");
}

}  // namespace
}  // namespace distrun::collectives::nccl_line

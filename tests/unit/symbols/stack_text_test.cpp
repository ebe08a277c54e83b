// Names and lines of addresses in this program.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>
#include <utility>

#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runtime/symbols/stack_text.hpp>

#include "support/limits.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

namespace distrun::symbols {
namespace {

using testing::names_in;

template <class Function>
std::uint64_t inside(Function* function) {
  return reinterpret_cast<std::uint64_t>(function) + 1;
}

constexpr int kOwnLine = __LINE__ + 1;
__attribute__((noinline)) int own_only(int number) { return number + 1; }

template <int Number>
__attribute__((noinline)) int numbered() {
  return Number;
}
template <int... Number>
std::vector<std::uint64_t> insides(std::integer_sequence<int, Number...>) {
  return {inside(&numbered<Number>)...};
}

TEST_CASE("a stack without frames, and invalid addresses, have no text") {
  CHECK(stack_text({}) == "");
  const std::vector<std::uint64_t> pcs{1, 2, 0};
  CHECK(stack_text(pcs) == "");
}

TEST_CASE("a function that is not exported has its name and its line") {
  const std::vector<std::uint64_t> pcs{inside(&own_only), 1};
  const std::string expected = "  thrown in distrun::symbols::(anonymous namespace)::own_only(int) at " __FILE__ ":" +
                               std::to_string(kOwnLine) + "\n  called by what has no name";
  CHECK(stack_text(pcs) == expected);
  CHECK(stack_text(pcs) == expected);
}

TEST_CASE("files that were opened are closed again") {
  const std::vector<std::string> before = names_in("/proc/self/fd");
  const std::vector<std::uint64_t> pcs{inside(&numbered<1000>), inside(&::printf), 1};
  CHECK(stack_text(pcs) != "");
  CHECK(names_in("/proc/self/fd") == before);
}

TEST_CASE("a process without free descriptors resolves names when it has some again") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit none{0, limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const std::string without = stack_text(std::vector{inside(&numbered<1001>)});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(without == "");
  CHECK_THAT(stack_text(std::vector{inside(&numbered<1002>)}), Catch::Contains("::numbered<1002>() at " __FILE__ ":"));
}

// Takes what the heap has left, so that more must be mapped. Never gives it back.
void use_up_heap() {
  const testing::LittleMemory none(0);
  while (std::malloc(256) != nullptr) {
  }
}

// Runs in a child: with ever more memory beside what the mapped file takes, so that libdw fails at each of its steps.
int name_without_memory() {
  const std::vector<std::uint64_t> pcs = insides(std::make_integer_sequence<int, 400>());
  const auto file_size = static_cast<rlim_t>(std::filesystem::file_size("/proc/self/exe"));
  testing::use_stack();
  use_up_heap();
  int failures = 0;
  for (std::size_t i = 0; i < pcs.size(); ++i) {
    const testing::LittleMemory little(file_size + (8 << 10) * i);
    try {
      (void)stack_text(std::vector{pcs[i]});
    } catch (const std::bad_alloc&) {
      ++failures;
    }
  }
  if (failures == 0) return 2;
  const std::string text = stack_text(std::vector{pcs.front()});
  return text.find("::numbered<0>() at " __FILE__ ":") == std::string::npos ? 3 : 0;
}

TEST_CASE("a process that has no memory for names goes on, and resolves them when it has some again") {
  testing::skip_case_if(base::kSanitized, "sanitizers map terabytes");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(name_without_memory());
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a fork of a process that has named stacks names others") {
  CHECK(stack_text(std::vector{inside(&own_only)}) != "");
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = stack_text(std::vector{inside(&numbered<1003>)});
    ::_exit(text.find("::numbered<1003>() at " __FILE__ ":") == std::string::npos);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

// Returns the errors in the names of ten functions, starting with that number.
std::string wrong_of(const std::vector<std::uint64_t>& pcs, std::size_t first) {
  const std::string text = stack_text(std::span(pcs).subspan(first, 10));
  std::size_t at = 0;
  for (std::size_t number = first; number < first + 10; ++number) {
    at = text.find("::numbered<" + std::to_string(number) + ">() at " __FILE__ ":", at);
    if (at == std::string::npos) return "no " + std::to_string(number) + " at its place in\n" + text;
  }
  return "";
}

TEST_CASE("threads that ask for a thousand names at a time get the right ones") {
  const std::vector<std::uint64_t> pcs = insides(std::make_integer_sequence<int, 1000>());
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < wrong.size(); ++own) {
    threads.emplace_back([&, own] {
      for (std::size_t i = 0; i < pcs.size(); i += 10) {
        if (wrong[own].empty()) wrong[own] = wrong_of(pcs, (i + own * 250) % pcs.size());
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const std::string& each : wrong) CHECK(each == "");
}

}  // namespace
}  // namespace distrun::symbols

#include <catch2/catch.hpp>

#include <distrun/common/base/cpu_list.hpp>
#include <distrun/common/base/error.hpp>

#include "unit/support/forked.hpp"

using namespace distrun;
using namespace distrun::base;

namespace {

using Cpus = std::vector<int>;

}  // namespace

TEST_CASE("a list of CPUs is read as the kernel writes it") {
  CHECK(parse_cpu_list("0-3,8\n") == Cpus{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("5") == Cpus{5});
  CHECK(parse_cpu_list("7,2-3,3") == Cpus{2, 3, 7});
  CHECK(parse_cpu_list("\n") == Cpus{});
}

TEST_CASE("a text that is no list of CPUs is refused") {
  for (const char* text : {"a", "1-", "-1", "3-1", "1,", ",1", "1 2", "1--2", "65536", "0-99999999999", "0x1"}) {
    INFO(text);
    CHECK_FALSE(parse_cpu_list(text));
  }
}

TEST_CASE("a list that repeats all CPUs many times is refused before it fills the memory") {
  std::string text = "0-65535";
  for (int i = 0; i < 100; ++i) text += ",0-65535";
  CHECK_FALSE(parse_cpu_list(text));
}

TEST_CASE("CPUs are written as ranges") {
  CHECK(cpu_list_text({}).empty());
  CHECK(cpu_list_text({0}) == "0");
  CHECK(cpu_list_text({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
  CHECK(parse_cpu_list(cpu_list_text({1, 3, 4, 65535})) == Cpus{1, 3, 4, 65535});
}

TEST_CASE("a thread runs on the CPUs that it is bound to, and cannot be bound to others than its machine has") {
  const Cpus before = cpus_of_thread();
  REQUIRE_FALSE(before.empty());
  CHECK(cpu_count_of_thread() == static_cast<int>(before.size()));
  const auto end = testing::in_child([&] {
    bind_thread_to({before.back()});
    if (cpus_of_thread() != Cpus{before.back()}) return 1;
    try {
      bind_thread_to({kCpuMax - 1});
      return 2;
    } catch (const Error& error) {
      return std::string(error.what()).find("CPUs 65535 only") == std::string::npos ? 3 : 0;
    }
  });
  CHECK(end.code == 0);
  CHECK(cpus_of_thread() == before);
}

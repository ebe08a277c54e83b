#include <catch2/catch.hpp>

#include <distrun/runner/record/wrapper.hpp>

using distrun::runner::Wrapper;
using distrun::runner::wrapper_of;
using distrun::runner::wrapper_uses_work_dir;
using Words = std::vector<std::string>;

TEST_CASE("a rank starts under its own command, else under that of all ranks") {
  const std::vector<Wrapper> all{{-1, "valgrind -q"}, {2, "strace -o {work_dir}/trace.{rank}.{world_size}"}};
  CHECK(wrapper_of(all, 0, 4, "/w") == Words{"valgrind", "-q"});
  CHECK(wrapper_of(all, 2, 4, "/w") == Words{"strace", "-o", "/w/trace.2.4"});
  CHECK(wrapper_of({all[1]}, 0, 4, "/w").empty());
  CHECK(wrapper_of({}, 0, 4, "/w").empty());
  CHECK(wrapper_uses_work_dir(all, 2));
  CHECK_FALSE(wrapper_uses_work_dir(all, 0));
}

TEST_CASE("a work directory with a space stays one word") {
  CHECK(wrapper_of({{-1, "tool {work_dir}"}}, 0, 1, "/a b") == Words{"tool", "/a b"});
}

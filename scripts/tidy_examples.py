"""What `scripts/tidy --self-test` plants: a small tree with one example, at least, for each rule. A line that ends
in "// finds RULE" (or "# finds RULE") must be found by that rule, after the mark is taken away; every other line must
not. What cannot bear a mark stands in ALSO."""

LONG_LINE = "// " + "x" * 130
LONG_BODY = "\n".join(f"  work({number});" for number in range(60))
NOTE = "TO" + "DO"
MANY_FUNCTIONS = "\n".join(f"  int f{number}(int a = g({number})) const;" for number in range(29))

FILES = {
    "CMakeLists.txt": "add_subdirectory(libdistrun)\n",
    "libdistrun/CMakeLists.txt": """\
add_library(x common/base/good.cpp common/base/loop_one.cpp)
add_library(r plugin/rank/blocks.cpp)
add_library(y long.cpp lines.cpp calls.cpp tasks.cpp)
foreach(name IN ITEMS two three)
  add_library(${name} common/base/loop_${name}.cpp)
endforeach()
# common/base/only_in_a_comment.cpp
""",

    "libdistrun/plugin/rank/blocks.cpp": """\
void blocks() {
  changed.wait(lock, ready);  // finds bare-wait
  there->wait_for(lock, second, ready);  // finds bare-wait
  ::poll(nullptr, 0, 1);  // finds bare-wait
  ::flock(file, LOCK_EX);  // finds bare-wait
  if (::read(file, data, 1) < 0) return;  // finds bare-wait
  ::waitpid(child, nullptr, 0);  // finds bare-wait
  std::this_thread::sleep_for(second);  // finds bare-wait
  board::wait_until(writer, info, lock, changed, deadline, ready);
  inbox.wait_for_release(barrier);
}
""",

    "libdistrun/runtime/tensor/CMakeLists.txt": "add_library(t waits.cpp deadlines.cpp)\n",
    "libdistrun/runtime/tensor/deadlines.cpp": """\
void deadlines() {
  const auto end = base::system_clock().now() + timeout;  // finds bare-deadline
  alarm.set(loop_.clock().now() + settings_.patience);  // finds bare-deadline
  wait(std::min(end, now + rest));  // finds bare-deadline
  wait(std::chrono::steady_clock::now() +  // finds bare-deadline
       std::chrono::seconds(limit_s));
  wait(now() + kPause * tries);  // finds bare-deadline
  wait(now() + (is_first ? kPause : pause));  // finds bare-deadline
  wait(now() + kPause, base::system_clock().now() + Alarm::kPause, now_ + 1, now + 5s, time_now() + kPause);
  wait(now() + std::chrono::seconds(5), now() + base::Nanoseconds(kPause), known + timeout);
  wait(now() + (calls.empty() ? base::Nanoseconds(kPause) : kLook), is_first ? now + kPause : kForever);
  wait(base::deadline_after(timeout), base::deadline_after(rest, now()), now() - begin + timeout);
}
""",
    "libdistrun/runtime/tensor/waits.cpp": """\
void waits() {
  changed.wait(lock, ready);  // finds bare-wait
  ::recv(line, data, 1, 0);  // finds bare-wait
  stream.wait(event);
  tensor::select(a, 0, 1);
}
""",

    "libdistrun/runtime/autograd/operators/operator_entries.inc": """\
DISTRUN_OPERATOR(told, overload(&distrun::told))
DISTRUN_OPERATOR_BY_NAME(by_name, "why", overload(&distrun::by_name))
""",
    "libdistrun/runtime/autograd/operators/all.hpp": """\
#pragma once
#include <distrun/runtime/autograd/operators/family.hpp>
""",
    "libdistrun/runtime/autograd/operators/family.hpp": """\
#pragma once
Tensor told(const Tensor& a);
Tensor told(const Tensor& a, double b);
TensorList by_name(const Tensor& a);
Tensor untold(const Tensor& a);  // finds no-operator-entry
void helper(const Tensor& a);
#include <distrun/runtime/autograd/operators/all.hpp>
""",

    # Nothing here is to be found.
    "libdistrun/common/base/good.hpp": """\
// A comment may stand first.
#pragma once
#include <string>

namespace distrun::base {

class Process {
 public:
  explicit Process(int a) : a_{a}, b_(a) { fork_later(); }
  void fork(const std::string& what);
  [[noreturn]] void exit(int code);
  int get() const noexcept { return a_; }

 private:
  int a_ = 0;
  int b_{0};
};

}  // namespace distrun::base
""",
    "libdistrun/common/base/good.cpp": """\
#include <distrun/common/base/good.hpp>

// std::thread, fork() and [=] in a comment are only talk, and so is asio::detached.
const char* const kText = "fork() system() [=] std::thread asio::detached";
const char* const kRaw = R"(exit(1) { } )";
const char kBrace = '{';

void Process::fork(const std::string&) {
  std::thread allowed_here([] {});
  child.exit(3);
  other->exit(4);
}
""",
    "libdistrun/common/base/loop_one.cpp": "",
    "libdistrun/common/base/loop_two.cpp": "",
    "libdistrun/common/base/loop_four.cpp": "",
    "libdistrun/common/base/only_in_a_comment.cpp": "",
    "libdistrun/common/base/unguarded.hpp": "#include <string>\n\n#pragma once\n",
    "libdistrun/common/base/guarded.h": "/* In C. */\n#ifndef GUARDED_H\n#define GUARDED_H\n#endif\n",
    "libdistrun/common/base/user.cpp": """\
#include <distrun/common/base/unguarded.hpp>
#include <distrun/common/base/guarded.h>
#include <distrun/common/base/heavy.hpp>
#include <distrun/common/base/classes.hpp>
""",
    "libdistrun/common/base/heavy.hpp": """\
#pragma once
#include <nlohmann/json.hpp>  // finds heavy-include
#include <nlohmann/json_fwd.hpp>
#include "spdlog/spdlog.h"  // finds heavy-include
#include <CLI/CLI.hpp>  // finds heavy-include
#include <Eigen/Dense>  // finds heavy-include
#include <catch2/catch.hpp>  // finds heavy-include
""",

    "libdistrun/long.cpp": f"int short_one() {{ return 1; }}\n\nint long_one(int a) {{\n{LONG_BODY}\n}}\n"
                           f"\nTEST_CASE(\"a case\") {{\n{LONG_BODY}\n}}\n"
                           "\nnamespace a {\nstruct S {\n  S() : a_{1},\n    b_(2) {\n" + LONG_BODY + "\n  }\n};\n}\n",
    "libdistrun/common/base/classes.hpp": f"""\
#pragma once
// 30 functions: what else is declared does not count.
class Whole : public Base {{
 public:
  explicit Whole(int a) : a_{{a}}, b_(a) {{ begin(); }}
  ~Whole();
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  void copy() = delete;
  explicit operator bool() const;
  friend void swap(Whole& a, Whole& b);
  using Call = std::function<void(int)>;
  static_assert(sizeof(int) == 4);
{MANY_FUNCTIONS}
  std::map<int, std::function<void(int)>> member() {{ return {{}}; }}

 private:
  std::function<void()> on_end_ = [] {{ f(); }};
  int a_{{g()}};
  int b_ = g();
}};
template <class T, class U>  // finds class-size
class [[nodiscard]] Large final {{
  class Inner {{
    void of_inner();
  }};
{MANY_FUNCTIONS}
  template <class V>
  static V* make(V (*from)(int));
  virtual auto last() const -> int = 0;
}};
""",
    "libdistrun/lines.cpp": "\n".join([LONG_LINE, "int x;\t", "int y; ", *["int z;"] * 400, "int no_newline;"]),

    "libdistrun/calls.cpp": f"""\
void f() {{
  fork();  // finds process-call
  const int pid = ::fork();  // finds process-call
  ::clone(g, stack, 0, nullptr);  // finds process-call
  if (std::system("ls") != 0) return;  // finds process-call
  std::exit(1);  // finds process-call
  _exit(1);  // finds process-call
  node.fork(order);
  std::thread worker(g);  // finds bare-thread
  std::jthread other(g);  // finds bare-thread
  std::thread::id is_a_number;  // finds bare-thread
  auto copies = [=] {{ return 1; }};  // finds capture-by-copy
  auto more = [=, &x] {{ return 1; }};  // finds capture-by-copy
  auto named = [x, &y] {{ return 1; }};
  array[x] = 1;
  // {NOTE}: what kind?
  // {NOTE}(perf): has one
  // FIX{'ME'}
  open("XX{'XXXX'}");
}}
""",
    "libdistrun/runner/proc/child.cpp": "void f() { ::fork(); }\n",
    "libdistrun/runner/proc/CMakeLists.txt": "add_library(proc child.cpp)\n",

    "libdistrun/tasks.cpp": """\
Task<void> f() {
  co_await g(Opt{.name = n});  // finds await-temporary
  co_await g(Opt{});  // finds await-temporary
  co_await g({a, b});  // finds await-temporary
  auto result = co_await g(1, std::vector<int>{1, 2});  // finds await-temporary
  h(Opt{co_await g()});  // finds await-temporary
  h(Opt{1}, co_await g());  // finds await-temporary
  co_await g([p] { return p; });  // finds await-temporary
  co_await g([this, &a, p = std::move(q)]() -> Task<void> { co_return; });  // finds await-temporary
  co_spawn(co_await executor, [p]() -> Task<void> { g(); }, asio::detached);  // finds await-temporary, detached-task
  while (co_await g(Opt{1})) {  // finds await-temporary
  }

  Opt options{1};
  co_await g(options);
  co_await g(std::string("a"));
  co_await g([&] { return Opt{1}; });
  co_await g([this] { run(); });
  if (co_await g()) { x = Opt{1}; }
  for (int i = 0; i < n; ++i) { co_await g(i); }
  for (int i = 0; i < n; ++i) co_await g(i);
  if (a) {
    b();
  }
  co_await g(1);
  do { co_await g(2); } while (c);
  try {
    const auto value = co_await node_.list(plugin, order);
  } catch (const Error& error) {
    failure = error.what();
  }
  const bool usable = co_await g(a[1], b(2));
  co_return Agg{1};
}
""",

    "tests/CMakeLists.txt": "add_executable(a unit/sleep_test.cpp unit/skip_test.cpp integration/sleep_test.cpp)\n",
    "tests/contract/CMakeLists.txt": "list(TRANSFORM all PREPEND ${folder}/)\nmine(wire SOURCES\n  a_test.cpp)\n",
    "tests/contract/wire/a_test.cpp": "",
    "tests/contract/wire/b_test.cpp": "",
    "tests/contract/base/a_test.cpp": "",
    "tests/unit/sleep_test.cpp": """\
TEST_CASE("a test of [0, 1)") {}  // finds test-name
TEST_CASE("one half; the other") {}  // finds test-name
TEST_CASE(  // finds test-name
    "a long name; and the rest of it") {}
TEST_CASE("--option is refused") {}  // finds test-name
TEST_CASE("the option --x is refused - at once") {}
TEST_CASE("a test", "[sleep]") {
  std::this_thread::sleep_for(1s);  // finds sleeping-test
  usleep(3);  // finds sleeping-test
  clock.advance(1s);
}
""",
    "tests/unit/skip_test.cpp": """\
void helper() {
  if (is_done()) return;
}
TEST_CASE("a case that cannot run") {
  if (geteuid() != 0) return;  // finds unseen-skip
  if (kSanitized) {  // finds unseen-skip
    WARN("not here");  // finds unseen-skip
    return;
  }
  skip_case_if(!has_gdb(), "there is no gdb");
  if (dtype == DType::U8) {
    CHECK(product() == dtype);
    return;
  }
  play([&](int rank) {
    if (rank == 0) return;
    work();
  });
}
TEST_CASE("another") {
  if (b) {
    CHECK(c);
  }
}
void after() {
  if (is_done()) return;
}
""",
    "tests/integration/sleep_test.cpp": "void f() { usleep(3); fork(); std::thread a(f); }\n",

    "README.md": "| a table may be as wide as it must" + " " * 100 + "|\n" +
                 "see /wo" + "rk/main and http://py" + "pi.org, but not net/wo" + "rk/here  # finds foreign-word\n",
    "docs/links.md": "# Links, and \"where\" they lead\n"
                     "[a](../README.md), [b](#links-and-where-they-lead), [c](https://example.org/none.md)\n"
                     "[d](README.md)  # finds dead-link\n"
                     "[e](../README.md#none)  # finds dead-link\n"
                     "`base/user.cpp`, `contract/NAME.cpp`, and\n"
                     "`base/gone.cpp`  # finds dead-path\n"
                     "A rank fails, and nobody is told.  # finds odd-wording\n"
                     "```\nnobody is told in a sample\n```\n",
    "NOTES.md": "```\n" + LONG_LINE + "\n```\n" + LONG_LINE + "\n",
    "tests/golden/a.txt": "as\tit is \n",
}

ALSO = {
    "libdistrun/runtime/autograd/operators/operator_entries.inc": [(1, "no-operator-entry")],  # reasons that none needs
    "libdistrun/common/base/loop_four.cpp": [(1, "unlisted")],
    "libdistrun/common/base/only_in_a_comment.cpp": [(1, "unlisted")],
    "libdistrun/common/base/user.cpp": [(1, "unlisted")],
    "tests/contract/wire/b_test.cpp": [(1, "unlisted")],
    "tests/contract/base/a_test.cpp": [(1, "unlisted")],
    "libdistrun/common/base/unguarded.hpp": [(1, "header-guard")],
    "libdistrun/long.cpp": [(3, "function-length"), (66, "function-length"), (131, "function-length")],
    "libdistrun/lines.cpp": [(1, "line-length"), (2, "white-space"), (3, "white-space"), (401, "file-length"),
                             (404, "white-space")],
    "NOTES.md": [(4, "line-length")],
    "libdistrun/calls.cpp": [(16, "open-end"), (18, "open-end")],
}

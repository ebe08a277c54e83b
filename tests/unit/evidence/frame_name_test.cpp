#include <catch2/catch.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

using namespace distrun;
using namespace distrun::evidence;

namespace {

struct Row {
  const char* function;
  const char* name;  // qualified
  const char* short_name;
};

}  // namespace

TEST_CASE("a demangled name is reduced to the name of the function") {
  const Row rows[] = {
      {"main", "main", "main"},
      {"ring::load(int)", "ring::load", "ring::load"},
      {"void ring::load<int>(int) [clone .isra.0]", "ring::load<int>", "ring::load<int>"},
      {"(anonymous namespace)::load()", "(anonymous namespace)::load", "load"},
      {"ring::(anonymous namespace)::A::b() const", "ring::(anonymous namespace)::A::b", "ring::A::b"},
      {"std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()",
       "std::function<void (int)>::operator()"},
      {"a::operator<< <int>(std::ostream&, int)", "a::operator<< <int>", "a::operator<< <int>"},
      {"bool operator==(A const&, B const&)", "operator==", "operator=="},
      {"A::operator unsigned long() const", "A::operator unsigned long", "A::operator unsigned long"},
      {"A::operator->() const", "A::operator->", "A::operator->"},
      {"operator new(unsigned long)", "operator new", "operator new"},
      {"my_operator<int>()", "my_operator<int>", "my_operator<int>"},
      {"f(int) const::{lambda(char)#2}::operator()(char) const", "f(int) const::{lambda(char)#2}::operator()",
       "f::{lambda#2}::operator()"},
      {"decltype (a->b()) std::__invoke<int>(int&&)", "std::__invoke<int>", "std::__invoke<int>"},
      {"A<(B)1, &C::operator()>::d(int)", "A<(B)1, &C::operator()>::d", "A<(B)1, &C::operator()>::d"},
      {"virtual thunk to A::b()", "A::b", "A::b"},
      {"f.part.0", "f.part.0", "f.part.0"},
  };
  for (const Row& row : rows) {
    CHECK(qualified_name(row.function) == row.name);
    CHECK(short_name(row.function, 100) == row.short_name);
  }
}

TEST_CASE("a long name loses its template arguments first, then its middle") {
  const std::string name = "ring::Map<" + std::string(200, 'k') + ">::find(int)";
  CHECK(short_name(name, 40) == "ring::Map<...>::find");
  const std::string deep = "begin::" + std::string(200, 'n') + "::end";
  CHECK(short_name(deep, 40).size() == 40);
  CHECK_THAT(short_name(deep, 40), Catch::StartsWith("begin::") && Catch::EndsWith("::end"));
}

TEST_CASE("a text that is not a name is kept, but made printable") {
  CHECK(short_name("", 40).empty());
  CHECK(short_name("()", 40) == "()");
  CHECK(short_name("(((", 40) == "(((");
  CHECK(short_name(">>>", 40) == ">>>");
  CHECK(short_name("a\x1b[0m\nb", 40) == "a\\x1b[0m b");
  CHECK(short_name(std::string(100'000, '('), 40).size() <= 40);
}

TEST_CASE("a name is cut between characters") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "\xe6\x97\xa5";
  for (std::size_t limit = 4; limit < 60; ++limit) {
    const std::string cut = shorten_middle(text, limit);
    CHECK(cut.size() <= limit);
    CHECK(base::valid_utf8(cut) == cut);
  }
}

TEST_CASE("a frame without a name is named by its module, else by its address") {
  wire::StackFrame frame;
  frame.pc = 0xabc;
  CHECK(frame_name(frame, 40) == "0xabc");
  frame.module = "/lib/libx.so.1";
  frame.offset = 0x1234;
  CHECK(frame_name(frame, 40) == "libx.so.1+0x1234");
}

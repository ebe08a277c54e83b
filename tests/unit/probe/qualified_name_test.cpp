#include <catch2/catch.hpp>

#include "qualified_name.hpp"

using distrun::probe::qualified_name;

TEST_CASE("a function's qualified name has no return type, arguments or parameters") {
  CHECK(qualified_name("std::future<int>::get()") == "std::future::get");
  CHECK(qualified_name("void std::call_once<void (&)()>(std::once_flag&, void (&)())") == "std::call_once");
  CHECK(qualified_name("std::vector<int, std::allocator<int>> user::make<int>(int)") == "user::make");
  CHECK(qualified_name("std::latch::wait() const") == "std::latch::wait");
  CHECK(qualified_name("std::__detail::__waiter<std::integral_constant<bool, true>>::_M_do_wait(int const*)") ==
        "std::__detail::__waiter::_M_do_wait");
  CHECK(qualified_name("(anonymous namespace)::f(int)") == "(anonymous namespace)::f");
  CHECK(qualified_name("user::(anonymous namespace)::f<(user::Kind)3>()") == "user::(anonymous namespace)::f");
}

TEST_CASE("an operator keeps its brackets") {
  CHECK(qualified_name("user::Caller::operator()(int) const") == "user::Caller::operator()");
  CHECK(qualified_name("std::ostream& operator<< <char>(std::ostream&, char)") == "operator<< <char>");
  CHECK(qualified_name("operator new(unsigned long)") == "operator new");
}

TEST_CASE("a C function has no leading underscores and no suffix of the compiler") {
  CHECK(qualified_name("__GI___pthread_mutex_lock") == "pthread_mutex_lock");
  CHECK(qualified_name("_dl_open") == "dl_open");
  CHECK(qualified_name("do_futex_wait.constprop.0") == "do_futex_wait");
  CHECK(qualified_name("main") == "main");
}

TEST_CASE("any text has a qualified name") {
  CHECK(qualified_name("").empty());
  CHECK(qualified_name("f<g<h").starts_with("f"));
  CHECK(qualified_name("operator").empty() == false);
  CHECK(qualified_name("a::operator") == "a::operator");
}

#include <catch2/catch.hpp>

#include <stdexcept>
#include <typeinfo>

#include <distrun/common/base/demangle.hpp>

using distrun::base::demangled;
using distrun::base::demangled_type;

TEST_CASE("mangled symbols become readable, and others stay unchanged") {
  CHECK(demangled("_ZNSt6vectorIiSaIiEE9push_backERKi") ==
        "std::vector<int, std::allocator<int> >::push_back(int const&)");
  CHECK(demangled("_Znonsense") == "_Znonsense");
  CHECK(demangled("main") == "main");
  CHECK(demangled("f") == "f");  // not float
  CHECK(demangled("").empty());
}

TEST_CASE("types become readable") {
  CHECK(demangled_type(typeid(std::out_of_range).name()) == "std::out_of_range");
  CHECK(demangled_type(typeid(float).name()) == "float");
  CHECK(demangled_type("no type") == "no type");
}

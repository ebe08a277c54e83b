#include <distrun/plugin/sdk/parameters.hpp>

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

namespace {

using namespace distrun;

std::vector<std::string> texts(const Product& product) {
  std::vector<std::string> result;
  for (const Parameters& element : product.elements()) result.push_back(element.to_string());
  return result;
}

}  // namespace

TEST_CASE("the last axis of a product changes fastest", "[sdk]") {
  const Product grid = product(axis("dtype", {"f32", "f64"}), axis("count", {1, 4096}));
  CHECK(texts(grid) == std::vector<std::string>{"dtype=f32,count=1", "dtype=f32,count=4096", "dtype=f64,count=1",
                                                "dtype=f64,count=4096"});
}

TEST_CASE("a product without axes has one empty element", "[sdk]") {
  REQUIRE(Product().elements().size() == 1);
  CHECK(Product().elements().front().empty());
}

TEST_CASE("values of any printable kind become parameters", "[sdk]") {
  CHECK(axis("a", {true, false}).values == std::vector<std::string>{"true", "false"});
  CHECK(axis("a", {'r', 'w'}).values == std::vector<std::string>{"r", "w"});
  CHECK(axis("a", {0.1, 1e300}).values == std::vector<std::string>{"0.1", "1e+300"});
  CHECK(axis("a", {0.1F}).values == std::vector<std::string>{"0.1"});
  CHECK(axis("a", {std::string("x")}).values == std::vector<std::string>{"x"});
  CHECK(axis("a", std::vector<long>{-1, 2}).values == std::vector<std::string>{"-1", "2"});
}

TEST_CASE("a parameter is read back in its original type", "[sdk]") {
  const auto big = std::numeric_limits<std::uint64_t>::max();
  const Parameters values =
      product(axis("int", {-7}), axis("big", {big}), axis("real", {0.1}), axis("flag", {true}), axis("text", {"a/b"}))
          .elements()
          .front();
  CHECK(values.get<int>("int") == -7);
  CHECK(values.get<std::uint64_t>("big") == big);
  CHECK(values.get<double>("real") == 0.1);
  CHECK(values.get<bool>("flag"));
  CHECK(values.get<std::string>("text") == "a/b");
}

TEST_CASE("a parameter out of the range of the requested type is refused", "[sdk]") {
  const Parameters values =
      product(axis("n", {300}), axis("minus", {-1}), axis("text", {"3x"}), axis("flag", {"yes"})).elements().front();
  CHECK_THROWS_WITH(values.get<std::int8_t>("n"), Catch::Contains("n=300 isn't a number"));
  CHECK_THROWS_WITH(values.get<unsigned>("minus"), Catch::Contains("minus=-1 isn't"));
  CHECK_THROWS_WITH(values.get<int>("text"), "parameter text=3x isn't an integer");
  CHECK_THROWS_WITH(values.get<double>("text"), "parameter text=3x isn't a number");
  CHECK_THROWS_WITH(values.get<bool>("flag"), "parameter flag=yes isn't true or false");
}

TEST_CASE("an unknown key is a KeyError that names the known ones", "[sdk]") {
  const Parameters values = product(axis("dtype", {"f32"}), axis("count", {1})).elements().front();
  try {
    values.text("size");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.type() == "KeyError");
    CHECK(error.text() == "no parameter 'size'; the test has dtype, count");
  }
}

TEST_CASE("an axis that gives invalid ids is refused", "[sdk]") {
  const auto refuses = [](Product bad, const char* text) { CHECK_THROWS_WITH(bad.elements(), text); };
  refuses(product(Axis{"a", {}}), "axis 'a' has no values");
  refuses(product(axis("", {1})), "axis '' has no name");
  refuses(product(axis("a=b", {1})), "axis 'a=b' has a '/', '=' or ',' in its name");
  refuses(product(axis("a", {1}), axis("a", {2})), "axis 'a' is declared twice");
  refuses(product(axis("a", {1, 1})), "axis 'a' has the value '1' twice");
  refuses(product(axis("a", {"1,2"})), "axis 'a' has a value '1,2' that has a ','");
  refuses(product(axis("a", {"x y"})), "axis 'a' has a value 'x y' that has a space or control character");
}

TEST_CASE("a product that is too large is refused before it is built", "[sdk]") {
  std::vector<std::string> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::to_string(i));
  const Product huge = product(axis("a", values), axis("b", values), axis("c", values));
  CHECK_THROWS_WITH(huge.elements(), Catch::Contains("more than 100000 combinations"));
}

TEST_CASE("every element is found by its text, and no other text is", "[sdk]") {
  const Product grid = product(axis("a", {"", "1", "1/x=1"}), axis("b", {1, 11}));
  for (const Parameters& element : grid.elements()) {
    const auto found = grid.find(element.to_string());
    REQUIRE(found);
    CHECK(found->entries() == element.entries());
  }
  for (const char* text : {"", "a=1", "a=1,b=", "a=1,b=12", "a=1,b=1,", "b=1,a=1", "a=1,b=1,c=1"}) {
    CHECK_FALSE(grid.find(text));
  }
  CHECK(Product().find(""));
  CHECK_FALSE(Product().find("a=1"));
}

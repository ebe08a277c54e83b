#include <distrun/plugin/sdk/captured_output.hpp>

#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>

#include <distrun/common/base/error.hpp>

#include "../support/forked.hpp"

namespace {

using distrun::CapturedOutput;

struct Texts {
  std::string out, err;
};

// Catch must not print meanwhile, so the texts are checked afterwards.
template <class Body>
Texts captured(Body body) {
  const CapturedOutput output;
  body();
  return {output.out(), output.err()};
}

}  // namespace

TEST_CASE("captured output is that of streams, stdio, descriptors and children, in order", "[sdk]") {
  const Texts texts = captured([] {
    std::cout << "a";
    std::fputs("b", stdout);
    std::fflush(stdout);
    (void)!::write(STDOUT_FILENO, "c", 1);
    distrun::testing::in_child([] { return ::write(STDOUT_FILENO, "d", 1) == 1 ? 0 : 1; });
    std::cout << "e";
    std::cerr << "errors";
  });
  CHECK(texts.out == "abcde");
  CHECK(texts.err == "errors");
}

TEST_CASE("captures can be nested, and an exception ends one", "[sdk]") {
  const Texts outer = captured([] {
    std::cout << "before ";
    try {
      const CapturedOutput inner;
      std::cout << "inner";
      throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    std::cout << "after";
  });
  CHECK(outer.out == "before after");
}

TEST_CASE("output beyond the limit is an error that says so", "[sdk]") {
  std::string why;
  captured([&] {
    const CapturedOutput inner;
    const std::string chunk(1 << 20, 'x');
    for (int i = 0; i < 17; ++i) std::cout << chunk;
    try {
      (void)inner.out();
    } catch (const distrun::Error& error) {
      why = error.what();
    }
  });
  CHECK_THAT(why, Catch::Contains("17825792 bytes") && Catch::Contains("at most 16777216"));
}

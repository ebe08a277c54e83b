// Output of a test: captured by the test itself, or in the report.
#include <distrun/test.hpp>

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>

DISTRUN_TEST(Output, is_captured_for_a_while,
             .skip = {skip_if([](const ListContext& run) { return run.isolation == "threads"; },
                              "ranks that are threads share their streams")}) {
  rank.note("rows", "[row:helpers/captured_output]");
  const distrun::CapturedOutput around;
  std::cout << "before, ";
  {
    const distrun::CapturedOutput captured;
    std::cout << "streams, ";
    std::printf("stdio, ");
    std::fflush(stdout);
    DISTRUN_EXPECT(write(STDOUT_FILENO, "descriptors", 11) == 11);
    std::cerr << "errors";
    DISTRUN_EXPECT(captured.out() == "streams, stdio, descriptors");
    DISTRUN_EXPECT(captured.err() == "errors");
  }
  std::cout << "between, ";
  try {
    const distrun::CapturedOutput captured;
    std::cout << "lost";
    throw std::runtime_error("on the way out");
  } catch (const std::runtime_error&) {
  }
  std::cout << "after";
  DISTRUN_EXPECT(around.out() == "before, between, after");  // output captured by inner scopes is not here
}

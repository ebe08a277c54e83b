// Examples of process groups: distrun prints what their pages show.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;

std::string block_of(const std::string& page) {
  const std::string text = read_file(page), head = "```console\n";
  const std::size_t begin = text.find(head) + head.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

// Returns the line of the output that names each rank's call; the whole text if there is no such line.
std::string mismatch_explanation(const std::string& text) {
  std::smatch found;
  const std::regex line("DistBackendError: the ranks of group world make different calls:[^\n]*");
  return std::regex_search(text, found, line) ? found.str() : "no explanation in: " + text;
}

}  // namespace

TEST_CASE("different calls of the ranks are reported as the example's page shows") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({DISTRUN_MISMATCH});
  CHECK(ended.exit_code == 1);
  CHECK(mismatch_explanation(ended.out) == mismatch_explanation(block_of(DISTRUN_MISMATCH_PAGE)));
}

TEST_CASE("the ring example works with one rank, some and many") {
  const std::string ranks = GENERATE(values<std::string>({"1", "4", "7"}));
  const Sandbox sandbox(distrun_program());
  CHECK(sandbox.run({"--world-size", ranks, DISTRUN_ALL_REDUCE}).exit_code == 0);
}

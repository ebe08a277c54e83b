// examples/classifier: several ranks train it and save it, another run loads it, and Python reads it as its page says.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;

// Runs one of the two tests, with the model in the sandbox; returns the output of rank 0.
std::string printed_by(const Sandbox& sandbox, const std::string& test, const std::string& ranks) {
  Command command =
      sandbox.command({"--world-size", ranks, "--filter", test, "--output", sandbox.output(), DISTRUN_CLASSIFIER});
  command.environment.push_back("CLASSIFIER_MODEL=" + sandbox.output() + "/model.safetensors");
  const Ended ended = Running(command).wait(scaled(milliseconds(60'000)));
  INFO(ended.out + ended.err);
  CHECK(ended.exit_code == 0);
  const Summary summary = sandbox.summary();
  const TestResult* const result = summary.find(test);
  REQUIRE(result != nullptr);
  CHECK(result->verdict == "pass");
  return result->attempts.at(0).ranks.at(0).out;
}

std::string accuracy_in(const std::string& printed) {
  std::smatch found;
  return std::regex_search(printed, found, std::regex("accuracy ([0-9.]+)")) ? found[1].str() : "none";
}

// Returns the second block of Python on the example's page.
std::string reader_on_page() {
  const std::string page = read_file(DISTRUN_CLASSIFIER_PAGE), head = "```python\n";
  const std::size_t start = page.rfind(head) + head.size();
  return page.substr(start, page.find("```", start) - start);
}

}  // namespace

TEST_CASE("a classifier trained by two ranks has the same accuracy in another run, from its file") {
  const Sandbox sandbox(distrun_program());
  const std::string trained = accuracy_in(printed_by(sandbox, "Classifier.learns_three_spirals", "2"));
  CHECK(trained != "none");
  CHECK(accuracy_in(printed_by(sandbox, "Classifier.knows_them_again", "2")) == trained);

  const std::string script = sandbox.output() + "/read.py";
  write_file(script, reader_on_page());
  Command python = sandbox.command({"python3", script, sandbox.output() + "/model.safetensors"});
  python.program = "/usr/bin/env";
  const Ended ended = Running(python).wait(scaled(milliseconds(30'000)));
  skip_case_if(ended.exit_code == 127, "there is no python3 for the reader of the example's page");
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  const std::string number = " -?[0-9.e-]+\n";
  CHECK(std::regex_match(ended.out, std::regex("0\\.weight \\[64, 2\\]" + number + "0\\.bias \\[64\\]" + number +
                                               "2\\.weight \\[64, 64\\]" + number + "2\\.bias \\[64\\]" + number +
                                               "4\\.weight \\[3, 64\\]" + number + "4\\.bias \\[3\\]" + number)));
}

TEST_CASE("without its file the classifier's second test is skipped, with what to do") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command({"--filter", "Classifier.knows_them_again", DISTRUN_CLASSIFIER});
  command.environment.push_back("CLASSIFIER_MODEL=" + sandbox.output() + "/model.safetensors");
  const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
  INFO(ended.out + ended.err);
  CHECK(ended.exit_code == 4);  // no test ran
  CHECK_THAT(ended.out, Catch::Contains("model.safetensors: train first"));
}

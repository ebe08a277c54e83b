#include <catch2/catch.hpp>

#include "commands/exit_codes.hpp"
#include "options/report_file.hpp"

using namespace distrun;
using namespace distrun::cli;
using runner::Verdict;

namespace {

using Texts = std::vector<std::string>;

runner::TestRecord test_of(const std::string& plugin, const std::string& name, Verdict verdict) {
  runner::TestRecord test;
  test.plugin = plugin;
  test.info.suite = "Ring";
  test.info.name = name;
  test.verdict = verdict;
  return test;
}

}  // namespace

TEST_CASE("tests that neither passed, were flaky nor were skipped are run again") {
  runner::RunRecord run;
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    run.tests.push_back(test_of("ring.so", runner::name_of(verdict), verdict));
  }
  Texts ids;
  for (const runner::TestName& test : failed_tests(run)) ids.push_back(test.id);
  CHECK(ids == Texts{"Ring.fail", "Ring.crash", "Ring.timeout", "Ring.deadlock", "Ring.leak", "Ring.infra-error",
                     "Ring.cancelled"});
}

TEST_CASE("the plugins of the tests are listed once each, in their order") {
  CHECK(plugins_of({{"b.so", "X.a"}, {"a.so", "X.a"}, {"b.so", "X.b"}}) == Texts{"b.so", "a.so"});
}

TEST_CASE("a report without failures is accepted only if its run was complete") {
  runner::RunRecord run;
  CHECK(why_nothing_reruns(run, "x.json").exit_code == kSuccess);
  CHECK(why_nothing_reruns(run, "x.json").why.find("nothing to rerun") != std::string::npos);
  run.problems.push_back({"ring.so", "list", "gone"});
  CHECK(why_nothing_reruns(run, "x.json").exit_code == kNothingRan);
  run.interrupted = true;
  CHECK(why_nothing_reruns(run, "x.json").why.find("was interrupted") != std::string::npos);
}

TEST_CASE("a report's settings are options, all values of one together") {
  runner::RunRecord run;
  run.settings.world_size = 2;
  run.settings.backend = "gloo";
  run.settings.seed = 17;
  run.settings.env = {{"A", "1"}, {"B", "two words"}};
  const Layer layer = report_layer(run, "x.json");
  CHECK(layer.at("world-size").texts == Texts{"2"});
  CHECK(layer.at("backend").texts == Texts{"gloo"});
  CHECK(layer.at("seed").texts == Texts{"17"});
  CHECK(layer.at("env").texts == Texts{"A=1", "B=two words"});
  CHECK(layer.at("env").origin == "x.json");
  CHECK_FALSE(layer.contains("agent"));  // the default
}

// What ranks measure is in each report.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using nlohmann::json;

constexpr char kBandwidth[] = "bandwidth: median 11 GB/s, 10 to 12 GB/s (3 values of ranks 0-2)\n";

}  // namespace

TEST_CASE("measured values are shown below their test, and are in each report", "[measured]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"--output", sandbox.output(), "--ctrf", sandbox.output() + "/ctrf.json", "--filter",
                                   "Measured.values", DISTRUN_MEASURED});
  REQUIRE(ended.exit_code == 0);
  const std::string indent(26, ' ');
  CHECK_THAT(ended.out, Contains("Measured.values\n" + indent + kBandwidth + indent + "latency: 8.5 us\n" + indent +
                                 "steps: 1e+06\n"));
  const json summary = json::parse(read_file(sandbox.output() + "/summary.json"));
  const json& ranks = summary["tests"][0]["attempts"][0]["ranks"];
  CHECK(ranks[1]["measures"] == json::parse(R"([{"name": "bandwidth", "value": 11, "unit": "GB/s"}])"));
  CHECK(ranks[0]["measures"].size() == 3);
  CHECK_THAT(read_file(sandbox.output() + "/junit.xml"), Contains(std::string("<system-out>") + kBandwidth));
  const json ctrf = json::parse(read_file(sandbox.output() + "/ctrf.json"));
  CHECK(ctrf["results"]["tests"][0]["extra"]["measured"][0]["values"] == json::parse("[10, 11, 12]"));
  CHECK_THAT(read_file(sandbox.output() + "/events.ndjson"), Contains(R"("measures":[{"name":"bandwidth")"));
  // A report of an earlier run has them, too.
  CHECK_THAT(sandbox.run({"show", sandbox.output() + "/summary.json"}).out, Contains(kBandwidth));
}

TEST_CASE("a measured value without a name, or that is no number, is refused", "[measured]") {
  const Sandbox sandbox(distrun_program());
  CHECK(sandbox.run({"--filter", "Measured.nonsense", DISTRUN_MEASURED}).exit_code == 0);
}

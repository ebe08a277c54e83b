#include <catch2/catch.hpp>

#include <distrun/runner/attempt/bounds.hpp>

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;
using wire::Phase;

TEST_CASE("phases have the bounds of the table") {
  const Settings settings;
  const wire::TestInfo test;
  const std::pair<Phase, Nanoseconds> rows[] = {{Phase::Spawn, 10s}, {Phase::Load, 30s},  {Phase::Rendezvous, 30s},
                                                {Phase::SetUp, 60s}, {Phase::Body, 300s}, {Phase::TearDown, 60s},
                                                {Phase::Exit, 5s}};
  for (const auto& [phase, bound] : rows) CHECK(bound_of(phase, test, settings) == bound);
  CHECK(load_bound(settings) == 30s);
}

TEST_CASE("the body's bound is the override, else the test's own, else the run's") {
  Settings settings;
  wire::TestInfo test;
  settings.timeout = 7s;
  CHECK(bound_of(Phase::Body, test, settings) == 7s);
  test.timeout_ms = 1500;
  CHECK(bound_of(Phase::Body, test, settings) == 1500ms);
  settings.timeout_override = 2s;
  CHECK(bound_of(Phase::Body, test, settings) == 2s);
  CHECK(bound_of(Phase::SetUp, test, settings) == 60s);
}

TEST_CASE("the scale multiplies every bound") {
  Settings settings;
  settings.timeout_scale = 2.5;
  settings.timeout_override = 2s;
  const wire::TestInfo test;
  CHECK(bound_of(Phase::Body, test, settings) == 5s);
  CHECK(bound_of(Phase::Exit, test, settings) == 12500ms);
  CHECK(load_bound(settings) == 75s);
}

TEST_CASE("the longest timeout that a test can set does not overflow") {
  Settings settings;
  wire::TestInfo test;
  test.timeout_ms = INT64_MAX;
  settings.timeout_scale = GENERATE(1.0, 1000.0);
  CHECK(bound_of(Phase::Body, test, settings) > 24h);
}

TEST_CASE("stacks of a timeout have several seconds, and more on a machine that is said to be slow") {
  Settings settings;
  const Graces graces;
  CHECK(graces.timeout_evidence >= 5s);
  CHECK(scaled_evidence(graces, settings).evidence == graces.evidence);
  settings.timeout_scale = 0.1;
  CHECK(scaled_evidence(graces, settings).timeout_evidence == graces.timeout_evidence);
  settings.timeout_scale = 2;
  CHECK(scaled_evidence(graces, settings).evidence == 2 * graces.evidence);
  CHECK(scaled_evidence(graces, settings).timeout_evidence == 2 * graces.timeout_evidence);
  settings.timeout_scale = 1000;
  CHECK(scaled_evidence(graces, settings).timeout_evidence == 30s);
}

TEST_CASE("the grace periods are those of the design") {
  const Graces graces;
  CHECK(graces.peers == 500ms);
  CHECK(graces.terminate == 500ms);
  CHECK(graces.kill == 1s);
  CHECK(graces.exit == 3s);
}

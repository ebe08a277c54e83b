#include <distrun/plugin/sdk/detail/suite_run.hpp>

#include <memory>

#include <distrun/plugin/sdk/detail/runtime.h>
#include <distrun/plugin/sdk/detail/current.hpp>
#include <distrun/plugin/sdk/detail/user_code.hpp>
#include <distrun/plugin/sdk/suite.hpp>

namespace distrun::detail {
namespace {

// A fixture that is set up, or has skipped.
struct Standing {
  const SuiteFixtureDeclaration* declared = nullptr;
  std::unique_ptr<SuiteFixture> fixture;
  std::optional<Skip> skip;
};

Standing& of_thread() {
  thread_local Standing standing;
  return standing;
}

Standing& of_host() {
  static Standing standing;
  return standing;
}

void enter(const distrun_rank& line, std::int32_t phase) { line.phase(line.self, phase); }

// Runs the action with the rank as the current one, so that checks count for it.
template <class Action>
void as_current(Rank& rank, Action action) {
  if (rank.line().shares_process != 0) {
    const RankBinding thread(rank);
    action();
  } else {
    const ProcessRank process(rank);
    action();
  }
}

void tear_down(Standing& standing, Rank& rank) {
  const Scope scope(rank.tally(), "in the suite's tear-down: ");
  guarded_to_the_end(rank.tally(), standing.declared->where, [&] { standing.fixture->tear_down_suite(rank); });
  standing = {};
}

}  // namespace

bool enter_suite(const Registry& registry, std::string_view suite, Rank& rank, std::optional<Skip>& skip) {
  const SuiteFixtureDeclaration* declared = registry.find_suite_fixture(suite);
  Standing& standing = of_thread();
  if (standing.declared != declared) standing = {};
  if (declared == nullptr) return true;
  if (!standing.fixture && !standing.skip) {
    const Scope scope(rank.tally(), "in the suite's set-up: ");
    std::unique_ptr<SuiteFixture> fixture;
    const bool is_up = guarded(rank.tally(), standing.skip, [&] {
      fixture = declared->make();
      fixture->set_up_suite(rank);
    });
    standing.declared = declared;
    if (is_up) standing.fixture = std::move(fixture);
    if (is_up && distrun_runtime_keep != nullptr) distrun_runtime_keep(&rank.line());
  }
  skip = standing.skip;
  rank.use_suite(standing.fixture.get());
  return standing.fixture != nullptr;
}

std::int32_t leave_suite(const distrun_rank& line) {
  Standing& standing = of_thread();
  if (!standing.fixture) {
    standing = {};
    return DISTRUN_OK;
  }
  enter(line, DISTRUN_PHASE_TEAR_DOWN);
  if (distrun_runtime_release != nullptr) distrun_runtime_release(&line);
  Rank rank(line, {});
  as_current(rank, [&] { tear_down(standing, rank); });
  return result_of(rank, std::nullopt);
}

std::int32_t set_up_host(const Registry& registry, std::string_view suite, const distrun_rank& line) {
  const SuiteFixtureDeclaration* declared = registry.find_suite_fixture(suite);
  if (declared == nullptr) return DISTRUN_NOT_FOUND;
  enter(line, DISTRUN_PHASE_SET_UP);
  Host host(line, suite);
  Standing& standing = of_host();
  standing = {};
  standing.declared = declared;
  as_current(host.as_rank(), [&] {
    guarded(host.as_rank().tally(), standing.skip, [&] {
      standing.fixture = declared->make();
      standing.fixture->set_up_host(host);
    });
  });
  return result_of(host.as_rank(), standing.skip);
}

std::int32_t tear_down_host(std::string_view suite, const distrun_rank& line) {
  Standing& standing = of_host();
  if (!standing.fixture) return DISTRUN_NOT_FOUND;
  enter(line, DISTRUN_PHASE_TEAR_DOWN);
  Host host(line, suite);
  as_current(host.as_rank(), [&] {
    guarded_to_the_end(host.as_rank().tally(), standing.declared->where, [&] {
      standing.fixture->tear_down_host(host);
      standing.fixture.reset();
    });
  });
  return result_of(host.as_rank(), std::nullopt);
}

}  // namespace distrun::detail

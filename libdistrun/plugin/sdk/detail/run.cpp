#include <distrun/plugin/sdk/detail/run.hpp>

#include <optional>

#include <distrun/plugin/sdk/detail/current.hpp>
#include <distrun/plugin/sdk/detail/suite_run.hpp>
#include <distrun/plugin/sdk/detail/user_code.hpp>

namespace distrun::detail {
namespace {

class TestRun {
 public:
  TestRun(const Registry& registry, const TestDeclaration& test, Rank& rank)
      : registry_(registry), test_(test), rank_(rank) {}

  std::int32_t run() {
    const bool has_suite = registry_.find_suite_fixture(test_.suite) != nullptr;
    if (test_.has_fixture || has_suite) enter(DISTRUN_PHASE_SET_UP);
    if (enter_suite(registry_, test_.suite, rank_, skip_)) run_in_suite();
    fixture_.reset();
    return result_of(rank_, skip_);
  }

 private:
  void run_in_suite() {
    if (test_.bridged) {
      bridged();
    } else if (set_up()) {
      body();
      tear_down();
    }
  }

  bool set_up() {
    const Scope scope(rank_.tally(), "in set-up: ");
    return guarded(rank_.tally(), skip_, [&] {
      fixture_ = test_.make();
      fixture_->set_up(rank_);
    });
  }

  void body() {
    enter(DISTRUN_PHASE_BODY);
    guarded(rank_.tally(), skip_, [&] { fixture_->body(rank_); });
  }

  void tear_down() {
    if (test_.has_fixture) enter(DISTRUN_PHASE_TEAR_DOWN);
    const Scope scope(rank_.tally(), "in tear-down: ");
    guarded_to_the_end(rank_.tally(), test_.where, [&] { fixture_->tear_down(rank_); });
  }

  // The framework runs the whole test, and its bridge reports the later phases.
  void bridged() {
    if (!test_.has_fixture) enter(DISTRUN_PHASE_BODY);
    guarded(rank_.tally(), skip_, [&] { test_.bridged->run(rank_); });
  }

  void enter(std::int32_t phase) { rank_.line().phase(rank_.line().self, phase); }

  const Registry& registry_;
  const TestDeclaration& test_;
  Rank& rank_;
  std::unique_ptr<Fixture> fixture_;
  std::optional<Skip> skip_;
};

struct Id {
  std::string_view suite, name, element;
};

// Parses "Suite.name/key=value,..."; if the text is not an id, some part is empty.
Id parse_id(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view path = text.substr(0, slash);
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {};
  return {.suite = path.substr(0, dot),
          .name = path.substr(dot + 1),
          .element = slash == std::string_view::npos ? "" : text.substr(slash + 1)};
}

}  // namespace

std::int32_t run_test(const Registry& registry, std::string_view test_id, const distrun_rank& line) {
  const Id id = parse_id(test_id);
  const TestDeclaration* test = registry.find_test(id.suite, id.name, id.element);
  if (test == nullptr) return DISTRUN_NOT_FOUND;
  auto parameters = test->bridged ? std::make_optional(test->bridged->element)
                                  : registry.options_of(*test).parameters.find(id.element);
  if (!parameters) return DISTRUN_NOT_FOUND;
  Rank rank(line, std::move(*parameters));
  if (line.shares_process != 0) {
    const RankBinding thread(rank);
    return TestRun(registry, *test, rank).run();
  }
  const ProcessRank process(rank);
  return TestRun(registry, *test, rank).run();
}

}  // namespace distrun::detail

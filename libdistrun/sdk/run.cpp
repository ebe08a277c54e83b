#include <distrun/sdk/run.hpp>

#include <optional>

#include <distrun/sdk/current.hpp>
#include <distrun/sdk/failure.hpp>
#include <distrun/sdk/string.hpp>

namespace distrun::detail {
namespace {

class TestRun {
 public:
  TestRun(const TestDeclaration& test, Rank& rank) : test_(test), rank_(rank) {}

  std::int32_t run() {
    if (set_up()) {
      body();
      tear_down();
    }
    fixture_.reset();
    return finish();
  }

 private:
  bool set_up() {
    if (test_.has_fixture) enter(DISTRUN_PHASE_SET_UP);
    const Scope scope(rank_.tally(), "in set-up: ");
    return guarded([&] {
      fixture_ = test_.make();
      fixture_->set_up(rank_);
    });
  }

  void body() {
    enter(DISTRUN_PHASE_BODY);
    guarded([&] { fixture_->body(rank_); });
  }

  void tear_down() {
    if (test_.has_fixture) enter(DISTRUN_PHASE_TEAR_DOWN);
    const Scope scope(rank_.tally(), "in tear-down: ");
    guarded([&] {
      try {
        fixture_->tear_down(rank_);
      } catch (const Skip& skip) {  // too late: the body has said what came of the test
        throw Error(ErrorKind::Failed, "skip: " + skip.reason, test_.where);
      }
    });
  }

  void enter(std::int32_t phase) { rank_.line().phase(rank_.line().self, phase); }

  // Whether the action came to its end. Whatever ended it early has been reported then.
  template <class Action>
  bool guarded(Action action) {
    try {
      action();
      return true;
    } catch (const CheckFailed&) {
      rank_.tally().mark_failed();
    } catch (const Skip& skip) {
      skip_ = skip;
    } catch (...) {
      rank_.tally().report(current_failure());
    }
    return false;
  }

  std::int32_t finish() {
    Tally& tally = rank_.tally();
    if (skip_ && tally.failed()) {
      tally.report({.type = "Skip", .text = "skipped after a failed check: " + skip_->reason});
    }
    tally.finish();
    if (tally.failed()) return DISTRUN_FAILED;
    if (!skip_) return DISTRUN_OK;
    rank_.line().skip(rank_.line().self, skip_->code, lend(skip_->reason));
    return DISTRUN_SKIPPED;
  }

  const TestDeclaration& test_;
  Rank& rank_;
  std::unique_ptr<Fixture> fixture_;
  std::optional<Skip> skip_;
};

struct Id {
  std::string_view suite, name, element;
};

// "Suite.name/key=value,..." taken apart; of what is no id some part is empty.
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

std::int32_t run_test(const Registry& registry, std::string_view test_id,
                      const distrun_rank& line) {
  const Id id = parse_id(test_id);
  const TestDeclaration* test = registry.find_test(id.suite, id.name);
  if (test == nullptr) return DISTRUN_NOT_FOUND;
  auto parameters = registry.options_of(*test).parameters.find(id.element);
  if (!parameters) return DISTRUN_NOT_FOUND;
  Rank rank(line, std::move(*parameters));
  if (line.shares_process != 0) {
    const RankBinding thread(rank);
    return TestRun(*test, rank).run();
  }
  const ProcessRank process(rank);
  return TestRun(*test, rank).run();
}

}  // namespace distrun::detail

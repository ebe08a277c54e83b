#include <distrun/runner/run/preparation.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/bounds.hpp>

namespace distrun::runner {

void Preparation::expect(const std::vector<PlannedTest>& tests) {
  for (const PlannedTest& test : tests) ++to_come_[test.plugin];
}

void Preparation::test_over(const PlannedTest& test) {
  if (--to_come_[test.plugin] == 0) node_.release(test.plugin);
}

io::Task<bool> Preparation::prepare(PlannedTest& test) {
  for (auto at = loading_.find(test.plugin); at != loading_.end(); at = loading_.find(test.plugin)) {
    const std::shared_ptr<io::OneShot<bool>> tried = at->second;
    co_await tried->wait();
  }
  if (unusable_.contains(test.plugin)) co_return false;
  const auto tried = std::make_shared<io::OneShot<bool>>(loop_);
  loading_.emplace(test.plugin, tried);
  const std::string failure = co_await load(test);
  loading_.erase(test.plugin);
  tried->set(true);
  if (failure.empty()) co_return true;
  unusable_.insert(test.plugin);
  on_problem_(test.plugin, failure);
  co_return false;
}

// Returns the error; empty: none.
io::Task<std::string> Preparation::load(PlannedTest& test) {
  try {
    const launch::Prepared prepared =
        co_await node_.prepare(test.plugin, test.variant.isolation, load_bound(settings_));
    test.variant.isolation = prepared.isolation;
    if (!prepared.reason.empty()) test.variant.isolation_reason = prepared.reason;
  } catch (const Error& error) {
    co_return error.what();
  }
  co_return "";
}

}  // namespace distrun::runner

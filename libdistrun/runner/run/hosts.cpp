#include <distrun/runner/run/hosts.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/run/host_events.hpp>

namespace distrun::runner {
namespace {

// Shortens a failure: one test reports it in full, the others only its reason.
AttemptRecord in_short(AttemptRecord failure) {
  failure.snapshots.clear();
  failure.duration = {};
  for (RankRecord& host : failure.ranks) {
    host.out = {};
    host.err = {};
  }
  return failure;
}

// Returns true if an attempt already reports the host's failure.
bool knows_of_host(const TestRecord& record) {
  return std::any_of(record.attempts.begin(), record.attempts.end(), [](const AttemptRecord& attempt) {
    const bool of_host = !attempt.ranks.empty() && attempt.ranks.front().rank == kHostRank;
    return of_host || !attempt.lost_host.empty();
  });
}

AttemptRecord no_directory(const std::string& why) {
  AttemptRecord failure;
  failure.verdict = Verdict::InfraError;
  failure.infra_error = why;
  failure.message = "the suite's set-up failed: " + why;
  return failure;
}

}  // namespace

Hosts::Hosts(const RunContext& run, std::function<void(const SuiteHost&)> on_lost)
    : run_(run), on_lost_(std::move(on_lost)) {}

void Hosts::expect(const std::vector<PlannedTest>& tests) {
  for (const PlannedTest& test : tests) {
    if (test.info.has_host && !test.skipped()) ++waiting_[key_of(test)];
  }
}

io::Task<bool> Hosts::enter(PlannedTest& test, TestRecord& record) {
  if (!test.info.has_host) co_return true;
  std::unique_ptr<SuiteHost>& host = hosts_[key_of(test)];
  std::string refused;
  try {
    if (!host) host = std::make_unique<SuiteHost>(run_, test, on_lost_);
  } catch (const Error& error) {
    refused = error.what();
  }
  if (!refused.empty()) {
    blame(no_directory(refused), test.id, record);
    co_return false;
  }
  const bool first = host->is_fresh();
  if (first) co_await host->set_up(test.id);
  co_await host->until_set_up();
  if (host->skip()) {
    test.info.skip = {*host->skip()};
  } else if (host->failure()) {
    blame(first ? *host->failure() : in_short(*host->failure()), test.id, record);
  }
  test.share = host->share();
  co_return !host->skip() && !host->failure();
}

void Hosts::blame(const AttemptRecord& failure, const std::string& id, TestRecord& record) {
  AttemptRecord attempt = failure;
  attempt.n = static_cast<int>(record.attempts.size()) + 1;
  attempt.kind = attempt.n == 1 ? AttemptKind::First : AttemptKind::Repeat;
  run_.events.on_attempt_start({id, attempt.n, attempt.kind, 0});
  run_.events.on_attempt_end(id, attempt);
  record.attempts.push_back(std::move(attempt));
}

io::Task<void> Hosts::leave(const PlannedTest& test, TestRecord& record) {
  const Key key = key_of(test);
  const auto found = hosts_.find(key);
  if (found == hosts_.end()) co_return;
  const std::unique_ptr<SuiteHost>& host = found->second;
  if (host && host->failure() && !knows_of_host(record)) blame(*host->failure(), test.id, record);
  if (--waiting_[key] > 0) co_return;
  const bool stood = host && !host->failure();
  co_await end(key, test.id);
  if (stood && host->failure()) blame(*host->failure(), test.id, record);
  hosts_.erase(key);
}

io::Task<void> Hosts::end(Key key, std::string id) {
  SuiteHost* host = hosts_.at(key).get();
  if (host == nullptr) co_return;
  co_await host->tear_down(std::move(id));
  records_.push_back(host->record());
}

io::Task<std::vector<Problem>> Hosts::close(Ending ending) {
  std::vector<Problem> problems;
  for (const auto& [key, host] : hosts_) {
    if (!host) continue;
    const bool stood = !host->failure();
    if (ending == Ending::TearDown) co_await host->tear_down(host->suite());
    co_await host->kill();
    records_.push_back(host->record());
    if (!stood || !host->failure()) continue;
    problems.push_back({host->plugin(), "suite tear-down", host->suite() + ": " + host->failure()->message});
  }
  hosts_.clear();
  co_return problems;
}

void Hosts::pause() {
  for (const auto& [key, host] : hosts_) {
    if (host) host->pause();
  }
}

void Hosts::resume() {
  for (const auto& [key, host] : hosts_) {
    if (host) host->resume();
  }
}

std::vector<Attempt*> Hosts::at_work() const {
  std::vector<Attempt*> works;
  for (const auto& [key, host] : hosts_) {
    if (host && host->work() != nullptr) works.push_back(host->work());
  }
  return works;
}

}  // namespace distrun::runner

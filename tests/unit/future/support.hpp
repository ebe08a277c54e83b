#pragma once
// Helpers for tests of futures: a separate rank, errors, another thread.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>

#include "support/error_of.hpp"
#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::testing {

inline Error value_error() { return {ErrorKind::InvalidArgument, "ValueError", "Expected error"}; }

// Runs `act` on another thread once the rank waits again.
inline base::Thread once_it_waits(FakeRank& rank, std::function<void()> act) {
  return base::Thread("other", [&rank, before = rank.line.count(), act = std::move(act)] {
    testing::eventually(std::chrono::seconds(30), [&] { return rank.line.count() > before; });
    act();
  });
}

inline std::vector<std::string> unseen(FakeRank& rank) { return future::unseen_errors_of(rank.state).take(); }

}  // namespace distrun::testing

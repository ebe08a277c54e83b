// Backward passes over several workers, in the profile of the worker that begins them.
#include <algorithm>
#include <iterator>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;
using Events = std::vector<profiler::Event>;

namespace {

// Returns the events in the order of their start.
Events events_of(const Events& all, const std::string& part_of_name) {
  Events found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const profiler::Event& each) { return each.name.find(part_of_name) != std::string::npos; });
  return found;
}

base::Nanoseconds duration(const profiler::Event& event) { return event.end - event.begin; }

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, dist_autograd_profiling) {
  const ContextScope context;
  const Tensor a = set_requires_grad(rand({3, 3})), b = set_requires_grad(rand({3, 3}));
  const Tensor loss = sum(rpc_sync<Tensor>(next_worker(rank), "add", a, b));
  profiler::Profile profile;
  dist_autograd::backward(context.id(), {loss});
  profile.end();
  const Events events = profile.events();
  const Events sends = events_of(events, "SendRpcBackward");
  const Events receipts = events_of(events, "RecvRpcBackward");
  const Events passes = events_of(events, "torch::distributed::autograd::backward");
  DISTRUN_REQUIRE(sends.size() == 1u);
  DISTRUN_REQUIRE(receipts.size() == 1u);
  DISTRUN_REQUIRE(!passes.empty());
  DISTRUN_EXPECT(duration(passes.front()) > duration(sends.front()));
  DISTRUN_EXPECT(duration(passes.front()) > duration(receipts.front()));
}

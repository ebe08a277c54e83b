#include <distrun/runner/attempt/provisions.hpp>

#include <distrun/runner/attempt/run_orders.hpp>

namespace distrun::runner {

Provisions::Provisions(const RunContext& run, const PlannedTest& test, int n, const Environment& environment)
    : run_(run),
      test_(test),
      dirs_(run.dirs.take(test.variant.world_size)),
      resources_(run.names, dirs_.get(), environment.private_tmp, test.id),
      order_(common_order(test, run.settings, run.run_id, n, *dirs_, *store_, trace_.get())) {
  order_.stay = environment.stay;
  if (!run.settings.leaks_off) order_.watched = watched_by_ranks(run.names, environment.private_tmp);
}

wire::RunOrder Provisions::order_of(int rank) const {
  wire::RunOrder order = order_for(order_, test_, *dirs_, rank);
  order.debug = rank == run_.settings.debug_rank && !test_.is_host();
  return order;
}

}  // namespace distrun::runner

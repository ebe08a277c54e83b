#include <distrun/runner/attempt/provisions.hpp>

#include <distrun/runner/attempt/run_orders.hpp>

namespace distrun::runner {
namespace {

// A bound rank sees its own CPUs only, and has to know whether its peers have some, too (runtime/core/cpus.hpp).
constexpr char kCpus[] = "DISTRUN_CPUS";

}  // namespace

Provisions::Provisions(const RunContext& run, const PlannedTest& test, int n, const Environment& environment)
    : run_(run),
      test_(test),
      cpus_(environment.cpus != nullptr ? *environment.cpus : LaneCpus()),
      dirs_(run.dirs.take(test.variant.world_size)),
      resources_(run.names, dirs_.get(), environment.private_tmp, test.id),
      order_(common_order(test, run.settings, run.run_id, n, *dirs_, *store_, trace_.get())) {
  order_.stay = environment.stay;
  if (!run.settings.leaks_off) order_.watched = watched_by_ranks(run.names, environment.private_tmp);
}

wire::RunOrder Provisions::order_of(int rank) const {
  wire::RunOrder order = order_for(order_, test_, *dirs_, rank);
  order.cpus = cpus_.of(rank, order.world_size);
  if (!order.cpus.empty()) order.env.insert(order.env.begin(), {kCpus, std::to_string(cpus_.count(order.world_size))});
  order.debug = rank == run_.settings.debug_rank && !test_.is_host();
  return order;
}

void Provisions::bind(launch::ProgramSpec& program) const {
  const int ranks = test_.variant.world_size;
  const int count = cpus_.count(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    program.cpus.push_back(cpus_.of(rank, ranks));
    if (count == 0) continue;
    std::vector<std::string>& variables = program.variables.at(static_cast<std::size_t>(rank));
    variables.insert(variables.begin(), std::string(kCpus) + "=" + std::to_string(count));
  }
}

}  // namespace distrun::runner

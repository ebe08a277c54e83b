#include <distrun/runner/attempt/spread_provisions.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/program.hpp>
#include <distrun/runner/attempt/run_orders.hpp>
#include <distrun/runner/plan/machine_gpus.hpp>

namespace distrun::runner {
namespace {

constexpr char kThreads[] = "DISTRUN_THREADS";

// Each rank sees the devices of its machine.
std::vector<int> gpus_by_rank(const launch::Node& node, int world_size, const Settings& settings) {
  const std::vector<launch::Resources> machines = node.machines();
  if (machines.empty()) return std::vector<int>(static_cast<std::size_t>(world_size), settings.gpus);
  const std::vector<int> ranks = node.split(world_size);
  std::vector<int> gpus;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    gpus.insert(gpus.end(), static_cast<std::size_t>(ranks.at(i)), gpus_on(machines[i], settings));
  }
  return gpus;
}

LeakKind leak_kind(std::uint8_t number) {
  return number < kLeakKindCount ? static_cast<LeakKind>(number) : LeakKind::File;
}

std::vector<Leak> leaks_of(std::vector<launch::LeftBehind> left) {
  std::vector<Leak> leaks;
  for (launch::LeftBehind& each : left) leaks.push_back({leak_kind(each.kind), std::move(each.what), each.removed});
  return leaks;
}

}  // namespace

SpreadProvisions::SpreadProvisions(const RunContext& run, const PlannedTest& test, int n, bool stay)
    : Provisions(common_order(test, run.settings, run.run_id, n)),
      run_(run),
      test_(test),
      is_traced_(trace_records(run, test) > 0),
      gpus_(gpus_by_rank(run.node, test.variant.world_size, run.settings)) {
  order_.stay = stay;
  // In front, so that --env wins; the nodes have not the user's environment.
  if (const char* own = std::getenv(kThreads)) order_.env.insert(order_.env.begin(), {kThreads, own});
}

wire::RunOrder SpreadProvisions::order_of(int rank, const launch::World& world) const {
  wire::RunOrder order = order_;
  order.rank = rank;
  order.gpus = gpus_.at(static_cast<std::size_t>(rank));
  order.debug = rank == run_.settings.debug_rank && !test_.is_host();
  const launch::Spread& spread = *world.spread();
  const std::string host =
      spread.master_address.find(':') == std::string::npos ? spread.master_address : "[" + spread.master_address + "]";
  Meeting meeting;
  meeting.store = spread.store;
  meeting.init_method = "tcp://" + host + ":" + std::to_string(spread.rendezvous_port);
  meeting.address = spread.master_address;
  meeting.port = spread.master_port;
  add_meeting(order, test_, meeting);
  return order;
}

launch::ProgramSpec SpreadProvisions::program() const { return program_spec(run_.settings); }

void SpreadProvisions::inspect(launch::World& world, OnInspected on_inspected) {
  world.inspect([this, &world, on_inspected = std::move(on_inspected), alive = std::weak_ptr(alive_)](bool is_clean) {
    if (alive.expired()) return;
    if (!is_clean) return on_inspected(false);
    read_traces(world, [on_inspected] { on_inspected(true); });
  });
}

// The nodes keep what the ranks have recorded until they are swept or begin another test.
void SpreadProvisions::read_traces(launch::World& world, std::function<void()> on_read) {
  if (!is_traced_) return on_read();
  world.read_traces([this, on_read = std::move(on_read), alive = std::weak_ptr(alive_)](auto traces) {
    if (alive.expired()) return;
    traces_ = std::move(traces);
    const auto failed =
        std::find_if(traces_.begin(), traces_.end(), [](const trace::RankTrace& each) { return each.is_failure; });
    if (failed != traces_.end()) run_.traces->miss(failed->why_missing);
    on_read();
  });
}

// The nodes hold what their ranks go on using, and the world does so for the store.
std::vector<std::shared_ptr<const void>> SpreadProvisions::keep(launch::World& world, bool holds) {
  world.keep(holds);
  return {};
}

void SpreadProvisions::sweep(launch::World& world, bool patient, OnSwept on_swept) {
  world.sweep(patient, [this, &world, on_swept = std::move(on_swept),
                        alive = std::weak_ptr(alive_)](std::vector<launch::LeftBehind> left) {
    if (alive.expired()) return;
    read_traces(world, [on_swept, leaks = leaks_of(std::move(left))] { on_swept(leaks); });
  });
}

}  // namespace distrun::runner

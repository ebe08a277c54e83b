#include <distrun/runner/nodes/spread_world.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/host_environment.hpp>
#include <distrun/runner/nodes/node_stacks.hpp>

namespace distrun::nodes {
namespace {

TestOfWorld test_of(const launch::WorldSpec& spec) {
  return {spec.test, spec.env_rendezvous, spec.own_gpu, spec.trace_records};
}

std::vector<TraceFetch::Source> sources_of(const std::vector<SpreadRanks::Part>& parts) {
  std::vector<TraceFetch::Source> sources;
  for (const SpreadRanks::Part& part : parts) {
    std::string why_not = part.node->lost();
    if (why_not.empty() && (!part.has_spawned || part.is_lost)) why_not = "the ranks have not begun";
    sources.push_back({part.node, part.first, part.count, std::move(why_not), {}});
  }
  return sources;
}

ProgramOrder order_for(const launch::ProgramSpec& program, const launch::Spread& spread) {
  ProgramOrder order;
  order.arguments = program.arguments;
  order.environment = travelling(program.environment);
  order.overrides = program.overrides;
  order.master_address = spread.master_address;
  order.stdin_rank = program.stdin_rank;
  return order;
}

}  // namespace

SpreadWorld::SpreadWorld(io::Loop& loop, launch::WorldEvents& events, std::uint32_t number,
                         std::vector<SpreadRanks::Part> parts, MakeStore make_store)
    : loop_(loop),
      events_(events),
      number_(number),
      make_store_(std::move(make_store)),
      ranks_(std::make_shared<SpreadRanks>(loop, events, number, std::move(parts))) {}

SpreadWorld::~SpreadWorld() { tell_all(wire::NodeFrame::EndWorld, WorldOrder{number_, false}); }

// A node that does not read is lost soon, which ends its ranks.
template <class Message>
void SpreadWorld::tell_all(wire::NodeFrame kind, const Message& message) {
  for (const SpreadRanks::Part& part : ranks_->parts()) {
    try {
      part.node->tell(kind, message);
    } catch (const Error&) {
    }
  }
}

void SpreadWorld::fail(std::string why) {
  loop_.post([this, why = std::move(why), alive = std::weak_ptr(ranks_)] {
    if (!alive.expired()) events_.on_spawn_failed(why);
  });
}

std::string SpreadWorld::renew_store() {
  if (!make_store_) return "";
  try {
    store_ = make_store_();
    ranks_->use_store(store_->url());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void SpreadWorld::begin(const launch::WorldSpec& spec) {
  ranks_->traces().begin_test(spec.trace_records, sources_of(ranks_->parts()));
  SpawnRequest request;
  request.world = number_;
  request.plugin = spec.plugin;
  request.isolation = spec.isolation;
  request.world_size = spec.world_size;
  request.lane = spec.lane;
  request.test = test_of(spec);
  request.hosts = ranks_->spread().hosts;
  if (spec.isolation == Isolation::Program) {
    request.program = order_for(spec.program, ranks_->spread());
    ranks_->expect_program(spec.program);
  }
  std::string why = renew_store();
  for (const SpreadRanks::Part& part : ranks_->parts()) {
    if (!why.empty()) return fail(std::move(why));
    part.node->add_world(number_, ranks_);
    why = part.node->lost();
    request.first_rank = part.first;
    request.ranks_here = part.count;
    if (request.program) request.program->host = static_cast<std::int32_t>(&part - ranks_->parts().data());
    try {
      part.node->tell(wire::NodeFrame::Spawn, request);
      ranks_->note_begin(part.node->number());
    } catch (const Error& error) {
      why = error.what();
    }
  }
  if (!why.empty()) fail(std::move(why));
}

void SpreadWorld::send(int rank, wire::Bytes packed) {
  if (ranks_->at(rank).has_ended) return;
  ranks_->part_of(rank).node->tell(wire::NodeFrame::ToRank, RankBytes{number_, rank, text_of(packed)});
}

void SpreadWorld::tell_signal(int rank, int signal, bool process_only) {
  if (ranks_->at(rank).has_ended) return;
  try {
    ranks_->part_of(rank).node->tell(wire::NodeFrame::Signal, SignalOrder{number_, rank, signal, process_only});
  } catch (const Error&) {
    // As in tell_all().
  }
}

void SpreadWorld::collect_stacks(const launch::StackOrder& order, launch::OnStacks on_stacks) {
  nodes::collect_stacks(loop_, ranks_, number_, order, std::move(on_stacks));
}

void SpreadWorld::name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                              base::Nanoseconds bound, launch::OnStacks on_stacks) {
  nodes::name_stacks(loop_, ranks_, number_, source, std::move(by_rank), bound, std::move(on_stacks));
}

// Goes on later, not in a call of the reader.
void SpreadWorld::hold_output(bool hold) {
  ranks_->output().hold(hold);
  if (hold) return;
  loop_.post([weak = std::weak_ptr(ranks_)] {
    if (const auto alive = weak.lock()) alive->output().pass_on();
  });
}

void SpreadWorld::forget_output() {
  ranks_->forget_output();
  tell_all(wire::NodeFrame::ForgetOutput, WorldOrder{number_, false});
}

// ---- from test to test, and the end

// An order that no node is left to answer is answered soon.
void SpreadWorld::ask(wire::NodeFrame order, bool yes, SpreadRanks::OnAnswers on_answers) {
  ranks_->ask(order, WorldOrder{number_, yes}, std::move(on_answers));
  loop_.post([weak = std::weak_ptr(ranks_)] {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->output().pass_on();
    alive->check_answers();
  });
}

void SpreadWorld::inspect(std::function<void(bool is_clean)> on_inspected) {
  ask(wire::NodeFrame::Inspect, false, [on_inspected = std::move(on_inspected)](const SpreadRanks::Answers& answers) {
    on_inspected(answers.is_clean);
  });
}

// The ranks have ended, so output that a slow reader has not taken yet is bounded by what was in their pipes.
void SpreadWorld::sweep(bool patient, std::function<void(std::vector<launch::LeftBehind>)> on_swept) {
  ranks_->output().end_holds();
  ask(wire::NodeFrame::Sweep, patient,
      [on_swept = std::move(on_swept)](SpreadRanks::Answers answers) { on_swept(std::move(answers.left)); });
}

void SpreadWorld::keep(bool holds) {
  if (holds && store_) held_.push_back(store_);
  tell_all(wire::NodeFrame::Keep, WorldOrder{number_, holds});
}

void SpreadWorld::read_traces(std::function<void(std::vector<trace::RankTrace>)> on_traces) {
  ranks_->traces().read(sources_of(ranks_->parts()), std::move(on_traces));
}

void SpreadWorld::renew(const launch::WorldSpec& spec) {
  ranks_->traces().begin_test(spec.trace_records, sources_of(ranks_->parts()));
  std::string why = renew_store();
  if (!why.empty()) fail(std::move(why));
  tell_all(wire::NodeFrame::Renew, RenewRequest{number_, test_of(spec)});
}

}  // namespace distrun::nodes

#include <distrun/runner/attempt/looks.hpp>

#include <utility>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/attempt/crash_error.hpp>
#include <distrun/runner/attempt/script_note.hpp>
#include <distrun/runner/record/look.hpp>

namespace distrun::runner {
namespace {

// A rank that is just waking up, or writing its record, briefly shows no wait. Its later view counts if it shows a wait
// that began before the snapshot.
void look_again(Look& look, const std::vector<RankView>& later) {
  for (RankView& view : look.ranks) {
    if (!view.shown || board::wait_of_body(*view.shown) != nullptr) continue;
    for (const RankView& again : later) {
      const bool is_it = again.rank == view.rank && again.shown.has_value();
      const board::ShownWait* const wait = is_it ? board::wait_of_body(*again.shown) : nullptr;
      if (wait != nullptr && wait->since_ns <= look.at_ns) view = again;
    }
  }
}

// The thread was not inspected, but it is known to have called exit().
void show_in_exit(evidence::Stacks& stacks, int rank) {
  for (evidence::Process& process : stacks.processes) {
    if (process.rank != rank) continue;
    for (wire::ThreadStack& thread : process.threads) {
      thread.task.state = 'R';
      thread.task.syscall = "exit()";
    }
  }
}

}  // namespace

Look Looks::begin(LookKind kind) {
  ++pending_;
  Look look;
  look.kind = kind;
  look.at = owner_.age();
  return look;
}

void Looks::look(LookKind kind, Nanoseconds bound, OnLook on_look) {
  Look look = begin(kind);
  look.at_ns = monotonic_ns(run_.loop.clock().now());
  look.ranks = owner_.views();
  launch::StackOrder order;
  order.bound = bound;
  world_->collect_stacks(order, [this, alive = std::weak_ptr(alive_), look = std::move(look),
                                 on_look = std::move(on_look)](evidence::Stacks stacks) {
    if (alive.expired()) return;
    Look seen = look;
    look_again(seen, owner_.views());
    end(std::move(seen), std::move(stacks), on_look);
  });
}

void Looks::end(Look look, evidence::Stacks stacks, const OnLook& on_look) {
  look.took = owner_.age() - look.at;
  look.stacks = std::move(stacks);
  look.text = describe(look);
  if (of_programs_) add_script_notes(look);
  const LookKind kind = look.kind;
  on_look ? on_look(look) : owner_.add_look(std::move(look));
  end_one(kind);
}

void Looks::end_one(LookKind kind) {
  --pending_;
  owner_.on_look_over(kind);
}

void Looks::name_crash(const RankRecord& rank) {
  auto dump = world_->crash(rank.rank);
  if (!dump) return;
  const bool has_crashed = dump->signal != 0;
  const bool is_end = has_crashed && dump->signal == rank.signal;
  const bool is_dragged = has_crashed && rank.signal == 0 && dump->rank == rank.rank;
  const bool is_exit = !has_crashed && rank.outcome.kind == OutcomeKind::Exited;
  if (!is_end && !is_dragged && !is_exit) return;
  crashes_.push_back({rank.rank, std::move(*dump)});
  if (!naming_) name_crashes();
}

void Looks::name_crashes() {
  naming_ = true;
  std::vector<std::pair<int, wire::RawStacks>> raw;
  for (Crash& crash : crashes_) raw.emplace_back(crash.rank, std::move(crash.dump.stacks));
  world_->name_stacks("crash handler", std::move(raw), run_.graces.evidence,
                      [this, alive = std::weak_ptr(alive_), look = begin(LookKind::Crash),
                       crashes = std::exchange(crashes_, {})](evidence::Stacks stacks) {
                        if (!alive.expired()) on_crashes_named(look, crashes, std::move(stacks));
                      });
}

void Looks::on_crashes_named(Look look, const std::vector<Crash>& crashes, evidence::Stacks stacks) {
  for (const Crash& crash : crashes) {
    if (crash.dump.signal == 0) show_in_exit(stacks, crash.rank);
  }
  for (const Crash& crash : crashes) owner_.add_error(crash.rank, crash_error(crash.rank, crash.dump, stacks));
  naming_ = false;
  if (!crashes_.empty()) name_crashes();
  end(std::move(look), std::move(stacks));
}

void Looks::name_throw(int rank, std::size_t error, wire::RawStacks stack) {
  throws_.add(rank, error, std::move(stack));
  name_throws();
}

void Looks::name_throws() {
  Throws::Batch batch = throws_.next_batch();
  if (batch.empty()) return;
  if (throws_look_.kind != LookKind::Exception) throws_look_.at = owner_.age();
  throws_look_.kind = LookKind::Exception;
  ++pending_;
  world_->name_stacks("exception", std::move(batch), run_.graces.evidence,
                      [this, alive = std::weak_ptr(alive_)](evidence::Stacks stacks) {
                        if (!alive.expired()) on_throws_named(std::move(stacks));
                      });
}

void Looks::on_throws_named(evidence::Stacks stacks) {
  throws_.named(std::move(stacks), [this](int rank, std::size_t error) { return owner_.find_error(rank, error); });
  throws_look_.took = owner_.age() - throws_look_.at;
  name_throws();
  end_one(LookKind::Exception);
}

void Looks::tell_throws() {
  throws_look_.stacks = throws_.take();
  if (throws_look_.stacks.processes.empty()) return;
  throws_look_.text = describe(throws_look_);
  owner_.add_look(std::move(throws_look_));
}

}  // namespace distrun::runner

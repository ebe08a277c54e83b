#include <distrun/runner/attempt/sweep.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>

namespace distrun::runner {
namespace {

constexpr auto kSweepMoment = std::chrono::milliseconds(5);

bool all_end(const std::vector<launch::Leftover>& left) {
  return std::all_of(left.begin(), left.end(), [](const launch::Leftover& leftover) { return leftover.ends; });
}

}  // namespace

Sweep::Sweep(io::Loop& loop, launch::World& world, TestResources& resources, const Graces& graces, bool patient,
             OnDone on_done)
    : loop_(loop),
      world_(world),
      resources_(resources),
      graces_(graces),
      patient_(patient),
      until_(base::deadline_after(patient ? graces.leak : Nanoseconds::zero(), loop.clock().now())),
      on_done_(std::move(on_done)),
      alarm_(loop, [this] { ending_ ? end() : look(); }) {}

void Sweep::start() { look(); }

void Sweep::again_in_a_moment() { alarm_.set_after(kSweepMoment); }

void Sweep::look() {
  const std::vector<launch::Leftover> left = world_.leftovers();
  if (left.empty() && !resources_.any()) return on_done_({});
  // A process that is ending hands its children to us only once it is gone.
  const bool waits_for_end = patient_ && !left.empty() && all_end(left);
  if (loop_.clock().now() < (waits_for_end ? until_ + graces_.kill : until_)) return again_in_a_moment();
  for (const launch::Leftover& leftover : left) {
    resources_.add_process(leftover.pid);
    if (!leftover.ends) leaks_.push_back({LeakKind::Process, leftover.process, true});
  }
  resources_.add_held(world_.held_by_leftovers(resources_.directories()));
  ending_ = true;
  until_ = base::deadline_after(graces_.kill, loop_.clock().now());
  end();
}

void Sweep::tell_names() {
  for (Leak& leak : resources_.tell()) leaks_.push_back(std::move(leak));
}

// The name of a process changes while it ends, but its number stays.
Leak* Sweep::find_process(std::string_view process) {
  const std::string_view number = process.substr(0, process.find(' ') + 1);
  const auto found = std::find_if(leaks_.begin(), leaks_.end(), [&](const Leak& leak) {
    return leak.kind == LeakKind::Process && leak.what.starts_with(number);
  });
  return found == leaks_.end() ? nullptr : &*found;
}

bool Sweep::is_end_over() const {
  const base::TimePoint now = loop_.clock().now();
  if (now < until_) return false;
  return now >= until_ + (graces_.exit - graces_.kill) || !all_end(world_.leftovers());
}

void Sweep::end() {
  launch::EndedLeftovers ended = world_.end_leftovers();
  for (std::string& process : ended.processes) {
    if (find_process(process) == nullptr) leaks_.push_back({LeakKind::Process, std::move(process), true});
  }
  if (ended.left > 0 && !is_end_over()) return again_in_a_moment();
  if (ended.left > 0) {
    for (const launch::Leftover& leftover : world_.leftovers()) {
      const Leak stays{LeakKind::Process, leftover.process + ", which SIGKILL did not end", false};
      if (Leak* told = find_process(leftover.process)) {
        *told = stays;
      } else {
        leaks_.push_back(stays);
      }
    }
  }
  tell_names();
  on_done_(std::move(leaks_));
}

}  // namespace distrun::runner

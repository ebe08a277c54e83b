#include <distrun/runner/sweep.hpp>

#include <algorithm>
#include <utility>

#include <distrun/proc/run_files.hpp>

namespace distrun::runner {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(5);

LeakKind kind_of(proc::NameKind kind) {
  switch (kind) {
    case proc::NameKind::SharedMemory: return LeakKind::SharedMemory;
    case proc::NameKind::Socket: return LeakKind::Socket;
    case proc::NameKind::File: return LeakKind::File;
  }
  return LeakKind::File;
}

bool all_end(const std::vector<launch::Leftover>& left) {
  return std::all_of(left.begin(), left.end(), [](const launch::Leftover& leftover) { return leftover.ends; });
}

}  // namespace

Leak leak_of(const proc::NewName& name, const std::string& run_id) {
  const bool ours = name.path.find(run_id) != std::string::npos;
  if (ours) proc::remove_tree(name.path);
  return {kind_of(name.kind), name.path, ours};
}

Sweep::Sweep(io::Loop& loop, launch::World& world, NameWatch& names, std::string run_id, const Graces& graces,
             bool patient, OnDone on_done)
    : loop_(loop), world_(world), names_(names), run_id_(std::move(run_id)), graces_(graces),
      patient_(patient),
      until_(loop.clock().now() + (patient ? graces.leak : Nanoseconds::zero())), on_done_(std::move(on_done)),
      alarm_(loop, [this] { ending_ ? end() : look(); }) {}

void Sweep::start() { look(); }

void Sweep::again_in_a_moment() { alarm_.set(loop_.clock().now() + kMoment); }

void Sweep::look() {
  const std::vector<launch::Leftover> left = world_.leftovers();
  const std::vector<proc::NewName> names = names_.look();
  if (left.empty() && names.empty()) return finish();
  // Only once it is gone does a process that ends leave us its children.
  const bool waits_for_end = patient_ && !left.empty() && all_end(left);
  if (loop_.clock().now() < (waits_for_end ? until_ + graces_.kill : until_)) return again_in_a_moment();
  for (const launch::Leftover& leftover : left) {
    if (!leftover.ends) leaks_.push_back({LeakKind::Process, leftover.process, true});
  }
  tell(names);
  ending_ = true;
  until_ = loop_.clock().now() + graces_.kill;
  end();
}

void Sweep::tell(const std::vector<proc::NewName>& names) {
  for (const proc::NewName& name : names) {
    if (find_leak(name.path) == nullptr) leaks_.push_back(leak_of(name, run_id_));
  }
}

Leak* Sweep::find_leak(const std::string& what) {
  const auto found = std::find_if(leaks_.begin(), leaks_.end(), [&](const Leak& leak) { return leak.what == what; });
  return found == leaks_.end() ? nullptr : &*found;
}

// What a process is called changes while it ends: its number is what stays.
Leak* Sweep::find_process(std::string_view process) {
  const std::string_view number = process.substr(0, process.find(' ') + 1);
  const auto found = std::find_if(leaks_.begin(), leaks_.end(), [&](const Leak& leak) {
    return leak.kind == LeakKind::Process && leak.what.starts_with(number);
  });
  return found == leaks_.end() ? nullptr : &*found;
}

void Sweep::end() {
  const int left = world_.end_leftovers();
  if (left > 0 && loop_.clock().now() < until_) return again_in_a_moment();
  if (left > 0) {
    for (const launch::Leftover& leftover : world_.leftovers()) {
      const Leak stays{LeakKind::Process, leftover.process + ", which SIGKILL does not end", false};
      if (Leak* told = find_process(leftover.process)) {
        *told = stays;
      } else {
        leaks_.push_back(stays);
      }
    }
  }
  tell(names_.look());  // with what the processes worked until now
  finish();
}

void Sweep::finish() {
  names_.forget();
  on_done_(std::move(leaks_));
}

}  // namespace distrun::runner

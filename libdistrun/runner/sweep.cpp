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

}  // namespace

Leak leak_of(const proc::NewName& name, const std::string& run_id) {
  const bool ours = name.path.find(run_id) != std::string::npos;
  if (ours) proc::remove_tree(name.path);
  return {kind_of(name.kind), name.path, ours};
}

Sweep::Sweep(io::Loop& loop, launch::World& world, NameWatch& names, std::string run_id, const Graces& graces,
             bool patient, OnDone on_done)
    : loop_(loop), world_(world), names_(names), run_id_(std::move(run_id)), graces_(graces),
      until_(loop.clock().now() + (patient ? graces.leak : Nanoseconds::zero())), on_done_(std::move(on_done)),
      alarm_(loop, [this] { ending_ ? end() : look(); }) {}

void Sweep::start() { look(); }

void Sweep::again_in_a_moment() { alarm_.set(loop_.clock().now() + kMoment); }

void Sweep::look() {
  const std::vector<std::string> processes = world_.leftovers();
  const std::vector<proc::NewName> names = names_.look();
  if (processes.empty() && names.empty()) return finish();
  if (loop_.clock().now() < until_) return again_in_a_moment();
  for (const std::string& process : processes) leaks_.push_back({LeakKind::Process, process, true});
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

void Sweep::end() {
  const int left = world_.end_leftovers();
  if (left > 0 && loop_.clock().now() < until_) return again_in_a_moment();
  if (left > 0) {
    for (const std::string& process : world_.leftovers()) {
      const Leak stays{LeakKind::Process, process + ", which SIGKILL does not end", false};
      if (Leak* told = find_leak(process)) {
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

#include <distrun/runtime/core/call_site.hpp>

#include <mutex>
#include <set>
#include <utility>

namespace distrun::core {
namespace {

constinit thread_local const StepFor* innermost = nullptr;

// There are only as many names as formulas in the code.
const std::string* kept(std::string name) {
  static auto* const mutex = new std::mutex;
  static auto* const names = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return &*names->insert(std::move(name)).first;
}

}  // namespace

StepFor::StepFor(const CallStack* beginner, const void* step, Name name) noexcept
    : beginner_(beginner), step_(step), name_(name), outer_(std::exchange(innermost, this)) {}

StepFor::StepFor(base::Location place, const void* step, Name name) noexcept
    : beginner_(nullptr), place_(place), step_(step), name_(name), outer_(std::exchange(innermost, this)) {}

StepFor::~StepFor() { innermost = outer_; }

CallSite call_site(base::Location given) {
  const bool has_place = innermost != nullptr && innermost->place_;
  CallSite site{has_place ? *innermost->place_ : given};
  if (given.line == 0 && !has_place) site.stack = call_stack();
  if (innermost == nullptr) return site;
  site.beginner = innermost->beginner_;
  site.step = kept(innermost->name_(innermost->step_));
  return site;
}

}  // namespace distrun::core

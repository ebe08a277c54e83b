#include "holders.hpp"

#include <algorithm>

#include "wait_functions.hpp"

namespace distrun::probe {
namespace {

using wire::WaitObject;
using Functions = std::vector<std::string>;

bool is_of(WaitObject object, const std::string& function) { return wait_in_runtime({function}).object == object; }

// The user's function that contains the static variable, or calls call_once.
std::string guarded_function(const NamedStack& stack) {
  return stack.runtime < stack.functions.size() ? stack.functions[stack.runtime] : "";
}

// Inside of that function, the holder is in code that the function has called. A call_once shows on its stack.
bool is_inside(const Functions& functions, std::size_t from, const std::string& function, bool once) {
  for (std::size_t i = from; i < functions.size(); ++i) {
    if (once && is_of(WaitObject::StaticGuard, functions[i])) once = false;
    if (functions[i] == function) return i > from && !once;
  }
  return false;
}

bool is_in_heap(const Functions& functions, std::size_t from) {
  return std::any_of(functions.begin() + static_cast<std::ptrdiff_t>(std::min(from, functions.size())), functions.end(),
                     [](const std::string& function) { return is_of(WaitObject::HeapLock, function); });
}

bool may_hold(const wire::ThreadStack& waiter, const NamedStack& waiting, const wire::ThreadStack& other,
              const NamedStack& stack) {
  const bool is_itself = &waiter == &other;
  if (waiter.wait.object == WaitObject::HeapLock) {
    const bool waits_too = other.wait.object == WaitObject::HeapLock;
    return is_in_heap(stack.functions, waits_too ? stack.runtime + 1 : 0);
  }
  const std::string function = guarded_function(waiting);
  if (function.empty()) return false;
  const bool waits_too =
      !is_itself && other.wait.object == WaitObject::StaticGuard && guarded_function(stack) == function;
  const bool once = waiter.wait.name == "std::call_once";
  return !waits_too && is_inside(stack.functions, is_itself ? stack.runtime + 1 : 0, function, once);
}

void name_holder(const std::vector<NamedStack>& stacks, std::size_t waiter, wire::ProcessStacks& process) {
  wire::ObservedWait& wait = process.threads[waiter].wait;
  const wire::ThreadStack* holder = nullptr;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (!may_hold(process.threads[waiter], stacks[waiter], process.threads[i], stacks[i])) continue;
    if (holder != nullptr) return;
    holder = &process.threads[i];
  }
  if (holder == nullptr) return;
  const std::string name = "thread " + std::to_string(holder->task.tid) + " (" + holder->task.name + ")";
  wait.enders = {{process.pid, holder->task.tid, name}};
  if (holder == &process.threads[waiter]) wait.note = "this thread itself is inside of it";
}

}  // namespace

void name_holders(const std::vector<NamedStack>& stacks, wire::ProcessStacks& process) {
  if (stacks.size() != process.threads.size()) return;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const WaitObject object = process.threads[i].wait.object;
    if (object == WaitObject::StaticGuard || object == WaitObject::HeapLock) name_holder(stacks, i, process);
  }
}

}  // namespace distrun::probe

// A program that names one of its hidden functions, and a visible one.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <distrun/runtime/symbols/stack_text.hpp>

static __attribute__((noinline)) int hidden(int number) { return number + 1; }
extern "C" __attribute__((visibility("default"), noinline)) int seen(int number) { return hidden(number) * 2; }

int main() {
  const auto inside = [](int (*function)(int)) { return reinterpret_cast<std::uint64_t>(function) + 1; };
  const std::vector<std::uint64_t> pcs{inside(&hidden), inside(&seen)};
  std::fputs(distrun::symbols::stack_text(pcs).c_str(), stdout);
}

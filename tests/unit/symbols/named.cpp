// A library with functions to be named.
#define SEEN extern "C" __attribute__((visibility("default")))

namespace named {
static __attribute__((noinline)) int hidden(int number) { return number + 1; }  // line 5
}  // namespace named

SEEN int named_seen(int number) { return named::hidden(number) * 2; }  // line 8

using Function = int (*)(int);
SEEN Function named_hidden() { return &named::hidden; }

// Ranks with sixteen threads each, all of which hang, each with a slightly deeper stack than the one before.
#include <unistd.h>

#include <thread>

#include <distrun/test.hpp>

namespace {

[[gnu::noinline]] int hang(int depth) {
  if (depth > 0) return hang(depth - 1) + 1;
  while (::pause() == -1) {
  }
  return 0;
}

}  // namespace

DISTRUN_TEST(Crowd, hangs) {
  for (int i = 1; i < 16; ++i) std::thread([depth = i + rank.rank()] { hang(depth); }).detach();
  hang(0);
}

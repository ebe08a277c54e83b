// A plugin that does not finish loading on rank 1, which so never starts: with --isolation exec each rank loads it.
#include <cstdlib>
#include <string_view>

#include "zoo.hpp"

namespace {

const bool loaded = [] {
  const char* rank = std::getenv("DISTRUN_RANK");
  if (rank != nullptr && std::string_view(rank) == "1") sleep(zoo::kPatienceS);  // culprit: never_loads
  return true;
}();

}  // namespace

DISTRUN_TEST(Loads, and_others_meet) {
  DISTRUN_EXPECT(loaded);
  rank.barrier("meet");
}

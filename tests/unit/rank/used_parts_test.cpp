#include <catch2/catch.hpp>

#include <distrun/plugin/rank/used_parts.hpp>

using namespace distrun::rank;

namespace {

UsedParts part_of(const char* symbol) {
  UsedParts parts;
  add_part_of(symbol, parts);
  return parts;
}

}  // namespace

TEST_CASE("imported functions of collectives, RPC and what is built on it are told by their namespaces") {
  CHECK(part_of("_ZN7distrun11collectives10all_reduceERNS0_5GroupERNS_6tensor6TensorE").backend);
  CHECK_FALSE(part_of("_ZN7distrun11collectives10all_reduceERNS0_5GroupERNS_6tensor6TensorE").agent);
  for (const char* const symbol :
       {"_ZN7distrun3rpc4initE", "_ZNK7distrun4rref4RRef5ownerEv", "_ZN7distrun13dist_autograd7Context8backwardEv"}) {
    INFO(symbol);
    CHECK(part_of(symbol).agent);
    CHECK_FALSE(part_of(symbol).backend);
  }
}

TEST_CASE("other functions use neither a backend nor an agent") {
  for (const char* const symbol : {"_ZN7distrun6tensor5zerosEv", "rpc", "", "_ZN3rpc4initE"}) {
    INFO(symbol);
    const UsedParts parts = part_of(symbol);
    CHECK_FALSE(parts.agent);
    CHECK_FALSE(parts.backend);
  }
}

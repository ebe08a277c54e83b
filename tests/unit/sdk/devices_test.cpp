#include <distrun/plugin/sdk/devices.hpp>

#include <catch2/catch.hpp>

using distrun::devices_of_ranks;
using Lists = std::vector<std::vector<int>>;

TEST_CASE("each rank has the device of its number, or no rank has a device", "[sdk]") {
  CHECK(devices_of_ranks(2, 4) == Lists{{0}, {1}});
  CHECK(devices_of_ranks(1, 1) == Lists{{0}});
  CHECK(devices_of_ranks(3, 2) == Lists{{}, {}, {}});
  CHECK(devices_of_ranks(0, 2).empty());
}

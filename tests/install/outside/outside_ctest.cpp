// Registered with ctest by distrun_discover_tests().
#include <distrun/short_names.hpp>

#include <cstdlib>
#include <string>

DISTRUN_TEST(Found, anywhere, .tags = {"quick"}, .locks = {"port 8000"}) {
  CHECK(rank.world_size() <= 2);
  CHECK(std::getenv("FOUND_FIRST") == std::string("1"));
  CHECK(std::getenv("FOUND_SECOND") == std::string("2"));
}
DISTRUN_TEST(Found, by_two, .world_size = fixed(2), .timeout = 20s) { CHECK(rank.world_size() == 2); }
DISTRUN_TEST(Found, by_none, .skip = {skip_if(true, "for a reason")}) { CHECK(false); }
DISTRUN_TEST(Lost, altogether) { CHECK(false); }

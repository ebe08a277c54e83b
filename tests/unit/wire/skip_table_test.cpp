#include <catch2/catch.hpp>

#include <set>

#include <distrun/common/wire/skip_table.hpp>

using namespace distrun::wire;

TEST_CASE("the codes from 72 to 88 are skips, each with a name and a message, and no others are") {
  std::set<std::string_view> names;
  for (int code = -1; code <= 256; ++code) {
    const auto entry = find_skip(code);
    CHECK(entry.has_value() == (code >= 72 && code <= 88));
    if (!entry) continue;
    CHECK(entry->exit_code == code);
    CHECK_FALSE(entry->message.empty());
    CHECK(names.insert(entry->name).second);
    CHECK(find_skip(entry->name)->exit_code == code);
  }
}

TEST_CASE("the codes and messages are those of PyTorch") {
  CHECK(find_skip("backend_unavailable")->exit_code == 72);
  CHECK(find_skip("small_worldsize")->exit_code == 73);
  CHECK(find_skip("no_cuda")->exit_code == 74);
  CHECK(find_skip("multi-gpu-8")->exit_code == 85);
  CHECK(find_skip("generic")->exit_code == 86);
  CHECK(find_skip("importerror")->exit_code == 88);
  CHECK(find_skip(76)->message == "c10d not compiled with NCCL support");
  CHECK_FALSE(find_skip("no such"));
  CHECK_FALSE(find_skip(kTestErrorExitCode));
}

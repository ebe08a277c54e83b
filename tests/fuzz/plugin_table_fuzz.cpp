// A lister's table: read or refused. A table that was read satisfies every guarantee of plugin_table.hpp.
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/plugin_table.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

bool is_name(const std::string& name) {
  if (name.size() > wire::kNameSizeMax) return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return false;
  }
  return true;
}

void check(const wire::TestInfo& test) {
  require(is_name(test.suite) && !test.suite.empty() && test.suite.find_first_of("./") == std::string::npos, "a suite");
  require(is_name(test.name) && !test.name.empty() && test.name.find('/') == std::string::npos, "a name");
  for (const wire::KeyValue& parameter : test.parameters) {
    require(is_name(parameter.key) && !parameter.key.empty() && is_name(parameter.value), "a parameter");
  }
  require(test.description.size() <= wire::kDescriptionSizeMax, "a description");
  require(test.world_size >= 0 && test.world_size <= wire::kWorldSizeMax, "a world size is within its limits");
  require(test.world_size > 0 || !test.skip.empty(), "a test without a world has a reason to be skipped");
  require(std::string(wire::name_of(test.world_rule)) != "unknown", "a world rule is known");
  require(test.timeout_ms >= 0, "a timeout is not negative");
  require(test.skip.size() <= 1, "a test has one skip reason at most");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wire::PluginTable table;
  try {
    table = wire::read_plugin_table(wire::view_of(data, size));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "a refusal is one line");
    return 0;
  }
  std::set<std::string> ids;
  for (const wire::TestInfo& test : table.tests) {
    check(test);
    require(ids.insert(test.id()).second, "no id comes twice");
  }
  const wire::Bytes once = wire::encode(table);
  require(once.size() == size, "a table that was read takes as many bytes when it is written");
  require(wire::encode(wire::read_plugin_table(wire::view_of(once))) == once, "what was written is read as it is");
  return 0;
}

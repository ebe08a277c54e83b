#include <distrun/common/wire/plugin_table.hpp>

#include <unordered_set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/isolation.hpp>
#include <distrun/common/base/label.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::wire {
namespace {

[[noreturn]] void refuse(const TestInfo& test, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "test '" + base::one_line(test.id()) + "' of the plugin's table: " + why);
}

void check_text(const TestInfo& test, const std::string& name, const char* what) {
  if (name.size() > kNameSizeMax) {
    refuse(test, std::string("its ") + what + " has " + std::to_string(name.size()) + " bytes, the limit is " +
                     std::to_string(kNameSizeMax));
  }
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      refuse(test, std::string("its ") + what + " contains a space or a control character");
    }
  }
}

void check_name(const TestInfo& test, const std::string& name, const char* what) {
  if (name.empty()) refuse(test, std::string("its ") + what + " is empty");
  check_text(test, name, what);
}

// "program" is not an isolation for plugins.
bool may_be_asked_for(std::string_view name) {
  const auto isolation = base::find_isolation(name);
  return isolation && *isolation != Isolation::Program;
}

void check_world(const TestInfo& test) {
  if (test.world_rule > WorldRule::Gpus) refuse(test, "its world rule is unknown");
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  if (test.world_size > kWorldSizeMax) {
#else
  if (test.world_size < 0 || test.world_size > kWorldSizeMax) {
#endif
    refuse(test,
           "world size " + std::to_string(test.world_size) + " is out of range 0.." + std::to_string(kWorldSizeMax));
  }
  if (test.world_size == 0 && test.skip.empty()) refuse(test, "no world size and no skip reason");
}

void check_test(const TestInfo& test) {
  check_name(test, test.suite, "suite");
  check_name(test, test.name, "name");
  if (test.name.find('/') != std::string::npos) refuse(test, "its name has a '/'");
  if (test.suite.find_first_of("./") != std::string::npos) refuse(test, "its suite has a '.' or '/'");
  for (const KeyValue& parameter : test.parameters) {
    check_name(test, parameter.key, "parameter's key");
    check_text(test, parameter.value, "parameter's value");
  }
  check_world(test);
  if (test.description.size() > kDescriptionSizeMax) {
    refuse(test, "its description has " + std::to_string(test.description.size()) + " bytes, the limit is " +
                     std::to_string(kDescriptionSizeMax));
  }
  for (const std::string& flaw : {base::flaw_of_tags(test.tags), base::flaw_of_locks(test.locks)}) {
    if (!flaw.empty()) refuse(test, flaw);
  }
  if (test.timeout_ms < 0) refuse(test, "its timeout is negative");
  if (test.skip.size() > 1) refuse(test, "it has more than one skip reason");
  if (!test.isolation.empty() && !may_be_asked_for(test.isolation)) {
    refuse(test, "unknown isolation '" + base::one_line(test.isolation) + "'");
  }
  for (const MayDie& death : test.may_die) {
    if (death.how > DeathKind::ExitCode) refuse(test, "its may_die has a death of an unknown kind");
  }
}

}  // namespace

const char* name_of(WorldRule rule) noexcept {
  switch (rule) {
    case WorldRule::Any: return "any";
    case WorldRule::Fixed: return "fixed";
    case WorldRule::AnyOf: return "any_of";
    case WorldRule::Gpus: return "gpus";
  }
  return "unknown";
}

std::string TestInfo::id() const {
  std::string id = id_in_plugin();
  if (has_size_in_id) id += " [np=" + std::to_string(world_size) + "]";
  return id;
}

std::string TestInfo::id_in_plugin() const {
  std::string id = suite + "." + name;
  char separator = '/';
  for (const KeyValue& parameter : parameters) {
    id += separator + parameter.key + "=" + parameter.value;
    separator = ',';
  }
  return id;
}

PluginTable read_plugin_table(BytesView bytes) {
  auto table = decode<PluginTable>(bytes);
  if (table.tests.size() > kTestsMax) {
    throw Error(ErrorKind::InvalidArgument, "the plugin lists " + std::to_string(table.tests.size()) +
                                                " tests, the limit is " + std::to_string(kTestsMax));
  }
  if (table.reuse > Reuse::Together) {
    throw Error(ErrorKind::InvalidArgument, "the plugin's value for reuse is invalid");
  }
  std::unordered_set<std::string> ids;
  for (const TestInfo& test : table.tests) {
    check_test(test);
    if (!ids.insert(test.id()).second) refuse(test, "the plugin lists this id twice");
  }
  return table;
}

}  // namespace distrun::wire

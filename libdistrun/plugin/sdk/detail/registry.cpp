#include <distrun/plugin/sdk/detail/registry.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace distrun::detail {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Returns the common part of two lists; an empty list allows everything.
std::vector<std::string> common(const std::vector<std::string>& suite, const std::vector<std::string>& test,
                                const char* what) {
  if (suite.empty()) return test;
  if (test.empty()) return suite;
  std::vector<std::string> result;
  std::copy_if(test.begin(), test.end(), std::back_inserter(result),
               [&](const std::string& name) { return std::find(suite.begin(), suite.end(), name) != suite.end(); });
  if (result.empty()) {
    throw Error(ErrorKind::InvalidArgument, std::string("no ") + what + " suits both suite and test");
  }
  return result;
}

}  // namespace

void Registry::load_frameworks() {
  for (const TestFramework& framework : std::exchange(frameworks_, {})) {
    for (TestDeclaration& test : framework.tests()) {
      if (test.bridged) test.bridged->defaults = framework.options;
      add(std::move(test));
    }
  }
}

const TestDeclaration* Registry::find_test(std::string_view suite, std::string_view name,
                                           std::string_view element) const {
  const auto found = std::find_if(tests_.begin(), tests_.end(), [&](const TestDeclaration& test) {
    return test.suite == suite && test.name == name && (!test.bridged || test.bridged->element.to_string() == element);
  });
  return found == tests_.end() ? nullptr : &*found;
}

const SuiteDeclaration* Registry::find_suite(std::string_view suite) const noexcept {
  const auto found =
      std::find_if(suites_.begin(), suites_.end(), [&](const SuiteDeclaration& one) { return one.suite == suite; });
  return found == suites_.end() ? nullptr : &*found;
}

const SuiteFixtureDeclaration* Registry::find_suite_fixture(std::string_view suite) const noexcept {
  const auto found = std::find_if(suite_fixtures_.begin(), suite_fixtures_.end(),
                                  [&](const SuiteFixtureDeclaration& one) { return one.suite == suite; });
  return found == suite_fixtures_.end() ? nullptr : &*found;
}

TestOptions Registry::options_of(const TestDeclaration& test) const {
  const SuiteDeclaration* suite = find_suite(test.suite);
  TestOptions own = suite == nullptr ? test.options() : merged(suite->options(), test.options());
  return test.bridged ? merged(test.bridged->defaults(), std::move(own)) : own;
}

Registry& registry() {
  // Never destroyed: if ranks are threads, one that calls exit() must not destroy it for the others.
  static auto* const the_plugins = new Registry;
  return *the_plugins;
}

TestOptions merged(TestOptions suite, TestOptions test) {
  TestOptions both = std::move(suite);
  both.backends = common(both.backends, test.backends, "backend");
  both.agents = common(both.agents, test.agents, "agent");
  both.devices = std::max(both.devices, test.devices);
  both.env_rendezvous = both.env_rendezvous || test.env_rendezvous;
  both.gpu_per_rank = both.gpu_per_rank || test.gpu_per_rank;
  both.needs_mpi = both.needs_mpi || test.needs_mpi;
  append(both.may_die, std::move(test.may_die));
  append(both.skip, std::move(test.skip));
  append(both.tags, std::move(test.tags));
  append(both.locks, std::move(test.locks));
  if (test.world_size) both.world_size = std::move(test.world_size);
  if (test.timeout.count() != 0) both.timeout = test.timeout;
  if (test.isolation) both.isolation = test.isolation;
  if (!test.parameters.empty()) both.parameters = std::move(test.parameters);
  return both;
}

bool declare(TestDeclaration test) {
  registry().add(std::move(test));
  return true;
}

bool declare(SuiteDeclaration suite) {
  registry().add(std::move(suite));
  return true;
}

bool declare(TestFramework framework) {
  registry().add(std::move(framework));
  return true;
}

bool declare(SuiteFixtureDeclaration fixture) {
  registry().add(std::move(fixture));
  return true;
}

}  // namespace distrun::detail

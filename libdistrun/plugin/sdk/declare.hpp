#pragma once
// Declares tests: DISTRUN_TEST(Suite, name) { body of every rank }, with `rank` as its context
// (plugin/sdk/context.hpp). Options follow the name: .world_size = fixed(2), .timeout = 5s. DISTRUN_SUITE(Hello,
// .timeout = 5s) sets defaults for the tests of a suite. DISTRUN_TEST_F(Fixture, name) makes the body a member of
// Fixture, a class derived from distrun::Fixture with the suite's name, so that it can use the fixture's members. For
// code that runs once around all tests of a suite, see plugin/sdk/suite.hpp.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/check.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/options.hpp>
#include <distrun/plugin/sdk/parameters.hpp>
#include <distrun/plugin/sdk/suite.hpp>

namespace distrun {

// One object per rank and test: created and set up in the phase set-up, torn down in the phase tear-down, which also
// runs after a failed body, but not after a failed set_up.
class Fixture {
 public:
  virtual ~Fixture() = default;
  // Runs before the body. An exception or a failed REQUIRE fails the test; body and tear_down() do not run then.
  virtual void set_up(Rank&) {}
  // Runs after the body, also after a failed one.
  virtual void tear_down(Rank&) {}
  // The body; defined by DISTRUN_TEST_F.
  virtual void body(Rank&) = 0;
};

// Runs `body` for every element of `settings`; reports name the element. If an element fails (a failed check or an
// exception), the rank fails and the next element runs; a skip is noted, and if all elements skip, so does the test.
// All ranks meet in a barrier after each element; if another rank has failed for good, PeerFailed ends this body, too.
void run_subtests(Rank& rank, const Product& settings, const std::function<void(const Parameters&)>& body);

namespace detail {

// Data of a test of another framework (plugin/sdk/bridge.hpp).
struct BridgedTest {
  std::function<void(Rank&)> run;         // the whole test, instead of TestDeclaration::make
  std::function<TestOptions()> defaults;  // of the whole plugin; the suite's options win
  Parameters element;                     // the part after the '/' of its id
  std::string description;                // its name in its framework
};

struct TestDeclaration {
  std::string suite;
  std::string name;
  base::Location where;
  std::function<TestOptions()> options;
  bool has_fixture = false;
  std::function<std::unique_ptr<Fixture>()> make;
  std::optional<BridgedTest> bridged{};
};
struct SuiteDeclaration {
  std::string suite;
  base::Location where;
  std::function<TestOptions()> options;
};
// Called while the plugin is loaded, on one thread. Returns true.
bool declare(TestDeclaration test);
bool declare(SuiteDeclaration suite);

}  // namespace detail
}  // namespace distrun

// Options can be written as 5s, fixed(2), axis(...).
#define DISTRUN_DETAIL_OPTIONS(...)                    \
  [] {                                                 \
    using namespace std::chrono_literals; /* NOLINT */ \
    using namespace ::distrun;            /* NOLINT */ \
    return ::distrun::TestOptions{__VA_ARGS__};        \
  }

#define DISTRUN_DETAIL_TEST(Class, Base, suite_, name_, with_fixture, ...)                                      \
  namespace {                                                                                                   \
  class Class final : public Base {                                                                             \
   public:                                                                                                      \
    void body(::distrun::Rank& rank) override;                                                                  \
  };                                                                                                            \
  [[maybe_unused]] const bool Class##_declared = ::distrun::detail::declare(::distrun::detail::TestDeclaration{ \
      suite_, name_, ::distrun::base::Location::here(), DISTRUN_DETAIL_OPTIONS(__VA_ARGS__), with_fixture,      \
      [] { return std::make_unique<Class>(); }});                                                               \
  }                                                                                                             \
  void Class::body([[maybe_unused]] ::distrun::Rank& rank)

// Declares and begins a test: DISTRUN_TEST(Suite, name, options...) { body }. Every rank runs the body, with its
// `rank`. The options are members of TestOptions: `.world_size = fixed(2)`.
#define DISTRUN_TEST(suite, name, ...) \
  DISTRUN_DETAIL_TEST(suite##_##name##_Test, ::distrun::Fixture, #suite, #name, false, __VA_ARGS__)
// Like DISTRUN_TEST, for a class derived from Fixture: the body is a member function of it, and the suite has its name.
#define DISTRUN_TEST_F(fixture, name, ...) \
  DISTRUN_DETAIL_TEST(fixture##_##name##_Test, fixture, #fixture, #name, true, __VA_ARGS__)

// Sets the options that the tests of a suite have by default. At most once for a suite.
#define DISTRUN_SUITE(suite, ...)                                                                                      \
  namespace {                                                                                                          \
  [[maybe_unused]] const bool suite##_suite_declared = ::distrun::detail::declare(::distrun::detail::SuiteDeclaration{ \
      #suite, ::distrun::base::Location::here(), DISTRUN_DETAIL_OPTIONS(__VA_ARGS__)});                                \
  }                                                                                                                    \
  static_assert(true, "a semicolon belongs here")

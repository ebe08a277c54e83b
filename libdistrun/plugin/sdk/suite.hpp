#pragma once
// A fixture for a whole suite. Its host code runs once per run; its rank code runs around the tests of a rank's
// process: each test with the isolations process and exec, all tests of a set of ranks with pool and threads.
//
//   class RingSuite : public distrun::SuiteFixture {
//    public:
//     void set_up_host(distrun::Host& host) override { host.set("port", start_server()); }
//     void set_up_suite(distrun::Rank& rank) override { connect(rank.setting("port")); }
//   };
//   DISTRUN_SUITE_FIXTURE(Ring, RingSuite);
//
// Tests of the suite get their rank's object with rank.suite<RingSuite>().
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/host.hpp>

namespace distrun {

// The host and each rank have separate objects and do not see each other's members. Overrides must be public. Host and
// rank are valid for the call only.
class SuiteFixture {
 public:
  virtual ~SuiteFixture() = default;
  // Runs in the host, before the suite's first test has any rank. A failure here fails the suite's tests, and
  // distrun::skip() skips them; then no rank starts, and nothing is torn down.
  virtual void set_up_host(Host&) {}
  // Runs in the same process, after the last test. A failure here fails that test.
  virtual void tear_down_host(Host&) {}
  // Runs in a rank, as part of the first test of the suite in its process: a failure here fails that test, and
  // distrun::skip() skips it and the other tests of this set of ranks.
  virtual void set_up_suite(Rank&) {}
  // Runs as part of the last test, also of a failed one, but not after a failed set_up_suite.
  virtual void tear_down_suite(Rank&) {}
};

template <class T>
T& Rank::suite() const {
  T* fixture = dynamic_cast<T*>(suite_);
  if (fixture == nullptr) refuse_suite();
  return *fixture;
}

namespace detail {

struct SuiteFixtureDeclaration {
  std::string suite;
  base::Location where;
  bool has_host = false;
  std::function<std::unique_ptr<SuiteFixture>()> make;
};
// Called while the plugin is loaded, on one thread. Returns true.
bool declare(SuiteFixtureDeclaration fixture);

template <class T>
constexpr bool has_host_code() {
  return !std::is_same_v<decltype(&T::set_up_host), void (SuiteFixture::*)(Host&)> ||
         !std::is_same_v<decltype(&T::tear_down_host), void (SuiteFixture::*)(Host&)>;
}

}  // namespace detail
}  // namespace distrun

// Makes `Class`, derived from SuiteFixture and default-constructible, the fixture of a suite. At most once for a suite.
#define DISTRUN_SUITE_FIXTURE(suite, Class)                                                     \
  namespace {                                                                                   \
  [[maybe_unused]] const bool suite##_suite_fixture_declared =                                  \
      ::distrun::detail::declare(::distrun::detail::SuiteFixtureDeclaration{                    \
          #suite, ::distrun::base::Location::here(), ::distrun::detail::has_host_code<Class>(), \
          [] { return std::make_unique<Class>(); }});                                           \
  }                                                                                             \
  static_assert(true, "a semicolon belongs here")

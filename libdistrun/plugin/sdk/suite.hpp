#pragma once
// A fixture of a suite as a whole. What it does in the host happens once in a run; what it does in a
// rank stands around the tests that the rank's process runs: around each with the isolations
// process and exec, around all tests of a set of ranks with pool and threads.
//
//   class RingSuite : public distrun::SuiteFixture {
//    public:
//     void set_up_host(distrun::Host& host) override { host.set("port", start_server()); }
//     void set_up_suite(distrun::Rank& rank) override { connect(rank.setting("port")); }
//   };
//   DISTRUN_SUITE_FIXTURE(Ring, RingSuite);
//
// Tests of the suite reach their rank's object with rank.suite<RingSuite>().
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/host.hpp>

namespace distrun {

// The host has an object, and so has each rank: what one of them keeps in members, the others don't
// see. The functions that a suite overrides are public. Host and rank are good for the call only.
class SuiteFixture {
 public:
  virtual ~SuiteFixture() = default;
  // In the host, before the suite's first test has any rank. What fails here fails the suite's
  // tests, and distrun::skip() skips them; none has a rank then, and nothing is torn down.
  virtual void set_up_host(Host&) {}
  // In the same process, after the last test. What fails here fails that test.
  virtual void tear_down_host(Host&) {}
  // In a rank, before the first test of the suite that its process runs, and part of it: what fails
  // here fails that test, and distrun::skip() skips it and the others of this set of ranks.
  virtual void set_up_suite(Rank&) {}
  // After the last one, also after a failed one, and part of it; not after a failed set_up_suite.
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
// Called while the plugin is loaded, by one thread. Returns true.
bool declare(SuiteFixtureDeclaration fixture);

template <class T>
constexpr bool has_host_code() {
  return !std::is_same_v<decltype(&T::set_up_host), void (SuiteFixture::*)(Host&)> ||
         !std::is_same_v<decltype(&T::tear_down_host), void (SuiteFixture::*)(Host&)>;
}

}  // namespace detail
}  // namespace distrun

#define DISTRUN_SUITE_FIXTURE(suite, Class)                                                     \
  namespace {                                                                                   \
  [[maybe_unused]] const bool suite##_suite_fixture_declared =                                  \
      ::distrun::detail::declare(::distrun::detail::SuiteFixtureDeclaration{                    \
          #suite, ::distrun::base::Location::here(), ::distrun::detail::has_host_code<Class>(), \
          [] { return std::make_unique<Class>(); }});                                           \
  }                                                                                             \
  static_assert(true, "a semicolon belongs here")

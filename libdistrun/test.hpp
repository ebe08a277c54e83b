#pragma once
// What a test author includes. A test is a body that every rank runs:
//
//   #include <distrun/test.hpp>
//
//   DISTRUN_TEST(Hello, every_rank_greets) {
//     DISTRUN_EXPECT(rank.rank() < rank.world_size());
//   }
//
// `rank` is what the body knows of its rank and can do with the others (plugin/sdk/context.hpp). How tests, fixtures
// and suites are declared: plugin/sdk/declare.hpp and suite.hpp; what they may ask for: options.hpp; tests over
// parameters: parameters.hpp; checks: check.hpp, closeness.hpp and message.hpp. The rest are helpers, each explained in
// its file.
#include <distrun/plugin/sdk/backends.hpp>
#include <distrun/plugin/sdk/captured_output.hpp>
#include <distrun/plugin/sdk/closeness.hpp>
#include <distrun/plugin/sdk/declare.hpp>
#include <distrun/plugin/sdk/devices.hpp>
#include <distrun/plugin/sdk/environment.hpp>
#include <distrun/plugin/sdk/file_lock.hpp>
#include <distrun/plugin/sdk/library.hpp>
#include <distrun/plugin/sdk/shared_file.hpp>

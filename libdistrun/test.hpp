#pragma once
// The header that a test author includes. A test is a body that every rank runs:
//
//   #include <distrun/test.hpp>
//
//   DISTRUN_TEST(Hello, every_rank_greets) {
//     DISTRUN_EXPECT(rank.rank() < rank.world_size());
//   }
//
// `rank` gives the body its rank's properties and operations with the other ranks (plugin/sdk/context.hpp). Declaring
// tests, fixtures and suites: plugin/sdk/declare.hpp and suite.hpp; their options: options.hpp; parameterised tests:
// parameters.hpp; checks: check.hpp, closeness.hpp and message.hpp. The rest are helpers, each explained in its file.
#include <distrun/plugin/sdk/backends.hpp>
#include <distrun/plugin/sdk/captured_output.hpp>
#include <distrun/plugin/sdk/closeness.hpp>
#include <distrun/plugin/sdk/declare.hpp>
#include <distrun/plugin/sdk/devices.hpp>
#include <distrun/plugin/sdk/environment.hpp>
#include <distrun/plugin/sdk/file_lock.hpp>
#include <distrun/plugin/sdk/library.hpp>
#include <distrun/plugin/sdk/measure.hpp>
#include <distrun/plugin/sdk/shared_file.hpp>

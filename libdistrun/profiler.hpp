#pragma once
// Records what a test does, by name and time, here and on the workers that it calls: for plugins that are linked with
// the runtime (distrun_add_plugin(NAME RUNTIME ...)):
//
//   #include <iostream>
//
//   #include <distrun/profiler.hpp>
//   #include <distrun/tensors.hpp>
//   #include <distrun/test.hpp>
//
//   DISTRUN_TEST(Profile, of_a_product) {
//     distrun::profiler::Profile profile;
//     distrun::mm(distrun::rand({8, 8}), distrun::rand({8, 8}));
//     profile.end();
//     std::cout << distrun::profiler::table(profile.key_averages());
//   }
#ifdef DISTRUN_PLUGIN_WITHOUT_RUNTIME
#error "<distrun/profiler.hpp> needs libdistrun.so: write distrun_add_plugin(NAME RUNTIME ...)"
#endif
#include <distrun/runtime/profiler/averages.hpp>
#include <distrun/runtime/profiler/chrome_trace.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/record_function.hpp>
#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/rpc/profile/profiled_call.hpp>
#include <distrun/runtime/rpc/profile/server_profile.hpp>

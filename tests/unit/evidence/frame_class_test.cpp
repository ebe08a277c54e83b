#include <catch2/catch.hpp>

#include <distrun/runner/evidence/stacks/frame_class.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::evidence;

namespace {

FrameClass class_in(const std::string& module, const std::string& function) {
  wire::StackFrame frame;
  frame.module = module;
  frame.function = function;
  return class_of(frame);
}

}  // namespace

TEST_CASE("a frame's class follows from its module and its name") {
  using enum FrameClass;
  const std::string plugin = "/build/ring.so";
  CHECK(class_in("/lib/x86_64-linux-gnu/libc.so.6", "anything") == Library);
  CHECK(class_in("/lib64/ld-linux-x86-64.so.2", "") == Library);
  CHECK(class_in("/usr/lib/libstdc++.so.6.0.30", "execute_native_thread_routine") == Library);
  CHECK(class_in("linux-vdso.so.1", "__vdso_clock_gettime") == Library);
  CHECK(class_in("", "__vdso_clock_gettime") == Library);
  CHECK(class_in(plugin, "void std::__invoke_impl<void, ring::f>(std::__invoke_other)") == Library);
  CHECK(class_in(plugin, "std::function<void (ring::A)>::operator()(ring::A) const") == Library);
  CHECK(class_in(plugin, "testing::UnitTest::Run()") == Library);
  CHECK(class_in(plugin, "Catch::RunContext::runTest(Catch::TestCase const&)") == Library);
  CHECK(class_in(plugin, "testing::mine()") == User);
  CHECK(class_in(plugin, "memcpy@plt") == Library);
  CHECK(class_in(plugin, "ring::pass(int)@plt") == Library);
  CHECK(class_in(plugin, "@plt") == Library);
  CHECK(class_in("/usr/bin/distrun-rank", "main") == Machinery);
  CHECK(class_in("/usr/bin/distrun-rank", "") == Machinery);
  CHECK(class_in("/usr/lib/openmpi/lib/libmpi.so.40.30.4", "PMPI_Barrier") == Library);
  CHECK(class_in("/usr/lib/openmpi/lib/openmpi3/mca_pml_ob1.so", "mca_pml_ob1_recv") == Library);
  CHECK(class_in("/usr/bin/python3.11", "_PyEval_EvalFrameDefault") == Library);
  CHECK(class_in("/usr/lib/libpython3.11.so.1.0", "Py_BytesMain") == Library);
  CHECK(class_in("/usr/bin/python3.11", "") == Library);
  CHECK(class_in("/usr/bin/python3.11", "time_sleep") == Library);
  CHECK(class_in("/usr/lib/python3.11/lib-dynload/_queue.cpython-311-x86_64-linux-gnu.so", "simplequeue_get") ==
        Library);
  CHECK(class_in("/usr/lib/python3/_C.cpython-311-x86_64-linux-gnu.so", "PyEval_hook") == User);
  CHECK(class_in(plugin, "distrun_plugin_entry") == Machinery);
  CHECK(class_in(plugin, "distrun_sdk_call_watched") == Machinery);
  CHECK(class_in(plugin, "distrun::detail::run_test(distrun::Rank&)") == Machinery);
  CHECK(class_in(plugin, "distrun::Rank::barrier(std::string_view)") == Machinery);
  CHECK(class_in(plugin, "distrun::run_subtests(distrun::Rank&)") == Machinery);
  CHECK(class_in(plugin, "distrun::(anonymous namespace)::enter(distrun::Rank&)") == Machinery);
  CHECK(class_in(plugin, "(anonymous namespace)::run(void*, distrun_string, distrun_rank const*)") == Machinery);
  const std::string entry = "/build/libdistrun/plugin/sdk/detail/entry.cpp";
  CHECK(class_of(samples::user("(anonymous namespace)::run", entry, 28)) == Machinery);
  CHECK(class_of(samples::user("get<int>", "include/distrun/plugin/sdk/parameters.hpp", 62)) == Machinery);
  CHECK(class_in("/usr/lib/libdistrun.so.1", "operator+") == Machinery);
  CHECK(class_in(plugin, "(anonymous namespace)::run(void*)") == User);
  CHECK(class_in(plugin, "main") == User);
  CHECK(class_in(plugin, "ring::f(std::vector<int>)") == User);
  CHECK(class_in(plugin, "std::vector<int> ring::f()") == User);
  CHECK(class_in(plugin, "distrun::ring::f(distrun::Rank&)") == User);
  CHECK(class_in(plugin, "(anonymous namespace)::Ring_gather::body(distrun::Rank&)") == User);
  CHECK(class_in(plugin, "") == User);
  CHECK(class_in("", "") == User);
  CHECK(class_in("/opt/libcolor.so", "f") == User);
}

TEST_CASE("a header's file makes a frame a library's only if the function is inlined, or of that library") {
  using enum FrameClass;
  const std::string header = "/usr/include/c++/12/bits/std_mutex.h";
  wire::StackFrame lambda = samples::user("main::{lambda()#1}::_FUN()", header, 100);
  CHECK(class_of(lambda) == User);
  lambda.file = "/usr/include/unistd.h";
  CHECK(class_of(lambda) == User);
  wire::StackFrame inlined = samples::user("lock", header, 100);
  inlined.inlined = true;
  CHECK(class_of(inlined) == Library);
  CHECK(class_of(samples::user("boost::asio::io_context::run()", "/usr/include/boost/asio.hpp", 60)) == Library);
  CHECK(class_of(samples::user("boost::asio::io_context::run()", "/src/boost/asio.hpp", 60)) == User);
}

TEST_CASE("the innermost frame of the test is found below the library's") {
  const Stacks stacks = samples::one_in_read();
  const wire::StackFrame* frame = innermost_user_frame(stacks.table, stacks.processes[2].threads[0]);
  REQUIRE(frame != nullptr);
  CHECK(frame->function == "ring::load_table(std::string const&)");
  CHECK(innermost_user_frame(stacks.table, stacks.processes[2].threads[1]) == nullptr);
}

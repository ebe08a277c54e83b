#include <distrun/runner/evidence/stacks/frame_class.hpp>

#include <string>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::evidence {
namespace {

struct Rule {
  FrameClass is;
  const char* module;    // pattern of the file name without its folder
  const char* function;  // pattern of the qualified name
  const char* file = "*";
  const char* whole = "*";  // pattern of the name including its parameters
  bool only_inlined = false;
};

using enum FrameClass;

// The first rule with all patterns matching decides. Names come before modules where headers compile library code into
// every module; only names and files distinguish SDK code from a test in the same plugin.
constexpr Rule kRules[] = {
    {Library, "*", "std::*"},
    {Library, "*", "__gnu_cxx::*"},
    {Library, "*", "__cxxabiv1::*"},
    // The runners of other frameworks' tests.
    {Library, "*", "testing::Test::*"},
    {Library, "*", "testing::TestInfo::*"},
    {Library, "*", "testing::TestSuite::*"},
    {Library, "*", "testing::UnitTest::*"},
    {Library, "*", "testing::internal::*"},
    {Library, "*", "Catch::*"},
    {Library, "*", "_start"},
    {Library, "*", "__libc_start_*"},
    {Library, "*", "__clang_call_terminate"},
    {Library, "*", "*", "*", "*@plt"},  // jumps into another file
    {Library, "*", "__vdso_*"},
    {Library, "*vdso*", "*"},
    {Library, "ld-*.so*", "*"},
    {Library, "ld.so*", "*"},
    {Library, "libc.so*", "*"},
    {Library, "libc-2.*", "*"},
    {Library, "libm.so*", "*"},
    {Library, "libdl.so*", "*"},
    {Library, "librt.so*", "*"},
    {Library, "libpthread*.so*", "*"},
    {Library, "libgcc_s.so*", "*"},
    {Library, "libstdc++.so*", "*"},
    {Library, "libc++*.so*", "*"},
    {Library, "libasan.so*", "*"},
    {Library, "libtsan.so*", "*"},
    {Library, "libubsan.so*", "*"},
    // Python's own code, in Python and in C, and installed packages say less than the script that uses them.
    {Library, wire::kPythonModule, "*", "*/lib/python3*/*"},
    {Library, wire::kPythonModule, "*", "<frozen *>"},
    {Library, wire::kPythonModule, "*", ""},  // notes in place of frames
    {Library, "python3*", "*"},
    {Library, "libpython3*", "*"},
    // MPI: ranks that wait in one call are in different functions of it.
    {Library, "libmpi*.so*", "*"},
    {Library, "libopen-*.so*", "*"},
    {Library, "mca_*.so", "*"},
    {Library, "libpmix.so*", "*"},
    {Library, "libevent*.so*", "*"},
    {Machinery, "distrun-rank*", "*"},
    {Machinery, "libdistrun.so*", "*"},
    // Inlined functions appear without their namespace; their headers identify them. The line of a function that is
    // not inlined may be that of code inlined there, if the debug information does not tell them apart.
    {Library, "*", "*", "/usr/include/*", "*", true},
    {Library, "*", "*", "*/include/c++/*", "*", true},
    {Library, "*", "*", "*/include/*/c++/*", "*", true},
    {Library, "*", "absl::*", "/usr/include/*"},
    {Library, "*", "asio::*", "/usr/include/*"},
    {Library, "*", "boost::*", "/usr/include/*"},
    {Library, "*", "cub::*", "/usr/include/*"},
    {Library, "*", "Eigen::*", "/usr/include/*"},
    {Library, "*", "fmt::*", "/usr/include/*"},
    {Library, "*", "gloo::*", "/usr/include/*"},
    {Library, "*", "google::*", "/usr/include/*"},
    {Library, "*", "nlohmann::*", "/usr/include/*"},
    {Library, "*", "spdlog::*", "/usr/include/*"},
    {Library, "*", "tbb::*", "/usr/include/*"},
    {Library, "*", "thrust::*", "/usr/include/*"},
    {Machinery, "*", "*", "*/libdistrun/*"},
    {Machinery, "*", "*", "*/include/distrun/*"},
    {Machinery, "*", "*", "include/distrun/*"},  // clang's form for headers below the build folder
    {Machinery, "*", "distrun_plugin_entry"},
    {Machinery, "*", "distrun_base_*"},
    {Machinery, "*", "distrun_sdk_*"},
    {Machinery, "*", "(anonymous namespace)::*", "*", "*(void\\*, distrun_*"},
    {Machinery, "*", "distrun::(anonymous namespace)::*"},
    {Machinery, "*", "distrun::base::*"},
    {Machinery, "*", "distrun::board::*"},
    {Machinery, "*", "distrun::detail::*"},
    {Machinery, "*", "distrun::io::*"},
    {Machinery, "*", "distrun::proc::*"},
    {Machinery, "*", "distrun::rank::*"},
    {Machinery, "*", "distrun::sdk::*"},
    {Machinery, "*", "distrun::wire::*"},
    {Machinery, "*", "distrun::Fixture::*"},
    {Machinery, "*", "distrun::Rank::*"},
    {Machinery, "*", "distrun::RankBinding::*"},
    {Machinery, "*", "distrun::run_subtests"},
};

}  // namespace

FrameClass class_of(const wire::StackFrame& frame) {
  const std::string_view module = file_of_path(frame.module);
  if (frame.module.find("/lib-dynload/") != std::string::npos) return Library;  // the C part of Python's library
  const std::string_view function = qualified_name(frame.function);
  for (const Rule& rule : kRules) {
    if (base::glob_match(rule.module, module) && base::glob_match(rule.function, function) &&
        base::glob_match(rule.file, frame.file) && base::glob_match(rule.whole, frame.function) &&
        (!rule.only_inlined || frame.inlined)) {
      return rule.is;
    }
  }
  return User;
}

const wire::StackFrame* innermost_user_frame(const std::vector<wire::StackFrame>& table,
                                             const wire::ThreadStack& stack) {
  for (const std::uint32_t index : stack.frames) {
    if (class_of(table[index]) == FrameClass::User) return &table[index];
  }
  return nullptr;
}

}  // namespace distrun::evidence

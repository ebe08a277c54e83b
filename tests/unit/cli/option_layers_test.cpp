#include <catch2/catch.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>

#include <distrun/common/base/error.hpp>

#include "options/option_layers.hpp"

using namespace distrun;
using namespace distrun::cli;

namespace {

using Texts = std::vector<std::string>;

// An app with an option of each kind.
struct Tool {
  Tool() {
    app.add_option("--size", size);
    app.add_option("--filter", filters)->allow_extra_args(false);
    app.add_flag("--quick", quick);
  }
  void parse(Texts words) {
    std::reverse(words.begin(), words.end());
    app.parse(words);
    origins = command_line_origins(app);
  }

  CLI::App app;
  std::string size = "4";
  Texts filters;
  bool quick = false;
  Origins origins;
};

// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

Layer layer_of_environment() {
  CLI::App scratch;
  return environment_layer(scratch);
}

}  // namespace

TEST_CASE("the variables of Bazel are options") {
  CHECK_FALSE(layer_of_environment().contains("shard"));
  const Variable index("TEST_SHARD_INDEX", "1");
  CHECK_FALSE(layer_of_environment().contains("shard"));  // without their number
  const Variable count("TEST_TOTAL_SHARDS", "3");
  const Variable xml("XML_OUTPUT_FILE", "/tmp/test.xml");
  const Variable filter("TESTBRIDGE_TEST_ONLY", "Ring.* -Ring.slow");
  const Layer layer = layer_of_environment();
  CHECK(layer.at("shard").texts == Texts{"2/3"});
  CHECK(layer.at("shard").origin == "TEST_SHARD_INDEX");
  CHECK(layer.at("junit").texts == Texts{"/tmp/test.xml"});
  CHECK(layer.at("filter").texts == Texts{"Ring.* -Ring.slow"});
  const Variable wrong("TEST_SHARD_INDEX", "two");
  CHECK(layer_of_environment().at("shard").texts == Texts{"two/3"});  // refused later, as it is
}

TEST_CASE("a layer sets options that the command line leaves out, and the first layer wins") {
  Tool tool;
  tool.parse({"--size", "1"});
  fill_in(tool.app, {{"size", {{"2"}, "file:1"}}, {"filter", {{"a", "b"}, "file:2"}}}, tool.origins);
  fill_in(tool.app, {{"filter", {{"c"}, "file:9"}}, {"quick", {{"true"}, "file:3"}}}, tool.origins);
  CHECK(tool.size == "1");
  CHECK(tool.filters == Texts{"a", "b"});
  CHECK(tool.quick);
  CHECK(tool.origins == Origins{{"size", "command line"}, {"filter", "file:2"}, {"quick", "file:3"}});
}

TEST_CASE("a layer may contain options that a command does not know, and flags that are off") {
  Tool tool;
  tool.parse({});
  fill_in(tool.app, {{"other", {{"2"}, "file:1"}}, {"quick", {{}, "file:2"}}}, tool.origins);
  CHECK_FALSE(tool.quick);
  CHECK(tool.origins.empty());
}

TEST_CASE("an invalid value is refused with the layer it is from") {
  Tool tool;
  tool.parse({});
  CHECK_THROWS_WITH(fill_in(tool.app, {{"quick", {{"maybe"}, "file:7"}}}, tool.origins),
                    Catch::StartsWith("file:7: --quick"));
}

TEST_CASE("an error about an option says where its value is from, unless that is the command line") {
  const Origins origins = {{"size", "file:1"}, {"filter", "command line"}};
  const auto told = [&](const std::string& text) {
    Error error(ErrorKind::InvalidArgument, text);
    add_origin(error, origins);
    return std::string(error.what());
  };
  CHECK(told("--size 0: a number is wanted") == "file:1: --size 0: a number is wanted");
  CHECK(told("--size: not with --filter") == "file:1: --size: not with --filter");
  CHECK(told("--filter x: odd") == "--filter x: odd");
  CHECK(told("--sizes 0: odd") == "--sizes 0: odd");
  CHECK(told("no option") == "no option");
}

TEST_CASE("variables are a separate layer, where an empty one is ignored and 0 means no") {
  {
    const Variable history("DISTRUN_HISTORY", "runs.db");
    const Variable daemon("DISTRUN_DAEMON", "1");
    const Layer layer = layer_of_environment();
    CHECK(layer.at("history").texts == Texts{"runs.db"});
    CHECK(layer.at("history").origin == "DISTRUN_HISTORY");
    CHECK(layer.at("daemon").texts == Texts{"true"});
  }
  const Variable history("DISTRUN_HISTORY", "");
  const Variable daemon("DISTRUN_DAEMON", "0");
  const Layer layer = layer_of_environment();
  CHECK_FALSE(layer.contains("history"));
  CHECK(layer.at("daemon").texts == Texts{"false"});
}

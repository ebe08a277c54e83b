#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <distrun/common/base/error.hpp>

#include "../../support/scratch.hpp"
#include "options/config_file.hpp"

using namespace distrun;
using namespace distrun::cli;
using testing::write_file;

namespace {

using Texts = std::vector<std::string>;

CommandInfo run_info() {
  CommandInfo run;
  run.options = {{{}, "PLUGIN.so", "", "", "", true, false},
                 {{"-w", "--world-size"}, "N", "", "", "4", false, false},
                 {{"--filter"}, "EXPRESSION", "", "", "", true, false},
                 {{"--fail-fast"}, "", "", "", "", false, false},
                 {{"--until-fail"}, "[=MAX]", "", "", "", false, false},
                 {{"--output"}, "DIR", "", "", "", false, false},
                 {{"--history"}, "FILE|off", "", "", "", false, false},
                 {{"--rerun-failed"}, "SUMMARY.json", "", "", "", false, false}};
  return run;
}

Layer layer_of(const std::string& text) { return config_layer("conf/x.toml", text, run_info()); }

std::string refusal(const std::string& text) {
  try {
    layer_of(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("the nearest file upwards is found, as far as the repository's root") {
  const testing::Scratch scratch;
  const std::string root = scratch.directory("repository");
  const std::string inner = scratch.directory("repository/a");
  const std::string start = scratch.directory("repository/a/b");
  scratch.directory("repository/.git");
  CHECK(find_config(start, "") == std::nullopt);
  write_file(scratch.path() + "/" + kConfigName, "");  // outside
  CHECK(find_config(start, "") == std::nullopt);
  write_file(root + "/" + kConfigName, "");
  CHECK(find_config(start, "") == root + "/" + kConfigName);
  CHECK(find_config(root, "") == root + "/" + kConfigName);
  write_file(inner + "/" + kConfigName, "");
  CHECK(find_config(start, "") == inner + "/" + kConfigName);
}

TEST_CASE("the home directory ends the search, and is searched") {
  const testing::Scratch scratch;
  const std::string home = scratch.directory("home");
  const std::string start = scratch.directory("home/work");
  write_file(scratch.path() + "/" + kConfigName, "");
  CHECK(find_config(start, home) == std::nullopt);
  write_file(home + "/" + kConfigName, "");
  CHECK(find_config(start, home) == home + "/" + kConfigName);
}

TEST_CASE("outside of repositories and the home directory only the start directory counts") {
  const testing::Scratch scratch;
  const std::string start = scratch.directory("here");
  write_file(scratch.path() + "/" + kConfigName, "");
  CHECK(find_config(start, "/nowhere") == std::nullopt);
  write_file(start + "/" + kConfigName, "");
  CHECK(find_config(start, "/nowhere") == start + "/" + kConfigName);
}

TEST_CASE("keys are the long names of options, and values have their file and line") {
  const Layer layer = layer_of("world-size = 2\nfilter = ['a', 'b']\nfail-fast = true\nuntil-fail = 20\n");
  CHECK(layer.at("world-size").texts == Texts{"2"});
  CHECK(layer.at("world-size").origin == "conf/x.toml:1");
  CHECK(layer.at("filter").texts == Texts{"a", "b"});
  CHECK(layer.at("fail-fast").texts == Texts{"true"});
  CHECK(layer.at("until-fail").texts == Texts{"20"});
  CHECK(layer.at("until-fail").origin == "conf/x.toml:4");
}

TEST_CASE("an option that may be given again takes one value too") {
  CHECK(layer_of("filter = 'a'").at("filter").texts == Texts{"a"});
}

TEST_CASE("a flag that is false is one that is not given") {
  CHECK(layer_of("fail-fast = false").at("fail-fast").texts.empty());
}

TEST_CASE("paths are relative to the file") {
  CHECK(layer_of("output = 'reports'").at("output").texts == Texts{"conf/reports"});
  CHECK(layer_of("output = '../out'").at("output").texts == Texts{"out"});
  CHECK(layer_of("output = '/var/out'").at("output").texts == Texts{"/var/out"});
}

TEST_CASE("an unknown key is refused with its place and the nearest known one") {
  CHECK(refusal("\nword-size = 2") == "conf/x.toml:2: word-size is not a setting; did you mean world-size?");
  CHECK(refusal("zebra = 2") == "conf/x.toml:1: zebra is not a setting");
  CHECK(refusal("rerun-failed = 'x'") == "conf/x.toml:1: rerun-failed is allowed only on the command line");
  CHECK(refusal("w = 2") == "conf/x.toml:1: w is not a setting");
}

TEST_CASE("a value of another kind than the option's is refused") {
  CHECK(refusal("fail-fast = 1") == "conf/x.toml:1: fail-fast must be true or false");
  CHECK(refusal("fail-fast = 'yes'") == "conf/x.toml:1: fail-fast must be true or false");
  CHECK(refusal("until-fail = []") == "conf/x.toml:1: until-fail must be true or false or a number");
  CHECK(refusal("world-size = true") == "conf/x.toml:1: world-size takes a value (N), not true or false");
  CHECK(refusal("world-size = [2]") == "conf/x.toml:1: world-size takes one value, not a list");
}

TEST_CASE("invalid TOML is refused with file and line") {
  CHECK(refusal("world-size = 2\n[run]").starts_with("conf/x.toml:2: tables are not supported here"));
}

TEST_CASE("a file that cannot be read is named, with what to do") {
  const testing::Scratch scratch;
  const auto refused = [](const std::string& path) -> std::string {
    try {
      read_config(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(refused(scratch.path() + "/none.toml").find("--config none") != std::string::npos);
  CHECK(refused(scratch.path()).find("not a regular file") != std::string::npos);
  REQUIRE(::mkfifo((scratch.path() + "/pipe").c_str(), 0600) == 0);
  CHECK(refused(scratch.path() + "/pipe").find("not a regular file") !=
        std::string::npos);  // and opening does not block
}

TEST_CASE("a keyword is not a path, even if an option takes files") {
  CHECK(layer_of("history = \"runs.db\"").at("history").texts == Texts{"conf/runs.db"});
  CHECK(layer_of("history = \"off\"").at("history").texts == Texts{"off"});
}

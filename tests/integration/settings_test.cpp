// Sources of settings: the command line, the environment, .distrun.toml; and --print-config, which shows them.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

using Texts = std::vector<std::string>;

class Place {
 public:
  explicit Place(const std::string& settings = "") : sandbox_(distrun_program()) {
    if (!settings.empty()) write_file(file(), settings);
  }

  std::string file() const { return sandbox_.start_directory() + "/.distrun.toml"; }
  const Sandbox& sandbox() const { return sandbox_; }
  // Runs distrun with DISTRUN_OPTIONS, unless `options` is empty.
  Ended run(Texts arguments, const std::string& options = "") const {
    Command command = sandbox_.command(std::move(arguments));
    if (!options.empty()) command.environment.push_back("DISTRUN_OPTIONS=" + options);
    return Running(command).wait(scaled(milliseconds(30'000)));
  }
  // Returns the line of a setting.
  std::string printed(const std::string& key, Texts arguments = {}, const std::string& options = "") const {
    arguments.emplace_back("--print-config");
    const Ended ended = run(std::move(arguments), options);
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    const std::size_t at = ended.out.find("\n" + key + " = ");
    return at == std::string::npos ? "none" : ended.out.substr(at + 1, ended.out.find('\n', at + 1) - at - 1);
  }
  void expect_refused(const Texts& parts, const std::string& options = "") const {
    const Ended ended = run({plugin("passes")}, options);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    for (const std::string& part : parts) CHECK_THAT(ended.err, Contains(part));
    CHECK(unprintable(ended.err).empty());
  }

 private:
  Sandbox sandbox_;
};

}  // namespace

TEST_CASE("the command line wins over the environment, and the environment over the file", "[cli]") {
  const Place place("world-size = 2\n");
  CHECK_THAT(place.printed("world-size"), Contains("\"2\"") && Contains(".distrun.toml:1"));
  CHECK_THAT(place.printed("world-size", {}, "--world-size 3"), Contains("\"3\"") && Contains("DISTRUN_OPTIONS"));
  CHECK_THAT(place.printed("world-size", {"-w", "5"}, "-w 3"), Contains("\"5\"") && Contains("command line"));
  CHECK_THAT(place.printed("world-size", {"--config", "none"}), Contains("\"4\"") && Contains("default"));
}

TEST_CASE("a run uses the file, and its report names it", "[cli]") {
  const Place place("world-size = 2\nfilter = ['Passes.world_of_1']\nskips-pass = true\n");
  const Ended ended = place.run({"--output", place.sandbox().output(), plugin("passes")});
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("1 test, world size 2") && Contains("config " + place.file()));
  CHECK(place.sandbox().summary().tests.size() == 1);
  CHECK(wrong_with_reports(place.sandbox()) == "");
  const Ended listed = place.run({"list", plugin("passes")});
  CHECK(listed.out == "Passes.world_of_1  (1 rank)\n");
}

TEST_CASE("the printed settings are a file with the same settings", "[cli]") {
  const Place place("filter = ['a\"b', 'c']\nfail-fast = true\nenv = 'A=1'\nuntil-fail = 3\ntimeout = '7s'\n");
  const Ended first = place.run({"--print-config"});
  REQUIRE(first.exit_code == 0);
  const std::string copy = place.sandbox().temp() + "/copy.toml";
  write_file(copy, first.out);
  for (const char* key : {"filter", "fail-fast", "env", "until-fail", "timeout", "backend", "shuffle"}) {
    const std::string was = place.printed(key);
    const std::string is = place.printed(key, {"--config", copy});
    CHECK(is.substr(0, is.find("  ")) == was.substr(0, was.find("  ")));
  }
}

TEST_CASE("an error in a file is refused with its place", "[cli]") {
  Place("word-size = 2\n").expect_refused({".distrun.toml:1: word-size", "did you mean world-size?"});
  Place("\nworld-size = 0\n").expect_refused({".distrun.toml:2: --world-size 0", "1 to 1024"});
  Place("timeout = 'soon'\n").expect_refused({".distrun.toml:1: --timeout soon", "30s"});
  Place("isolation = 'thin'\n").expect_refused({".distrun.toml:1: --isolation thin", "process, exec"});
  Place("fail-fast = 'maybe'\n").expect_refused({".distrun.toml:1: fail-fast must be true or false"});
  Place("until-fail = true\nretries = 2\n").expect_refused({".distrun.toml:1: --until-fail", "--retries"});
  Place("[run]\n").expect_refused({".distrun.toml:1: tables are not supported"});
  Place("\xff").expect_refused({".distrun.toml:1:", "UTF-8"});
  Place(std::string(70'000, '#')).expect_refused({".distrun.toml:1:", "65536"});
}

TEST_CASE("a file has settings of some tests", "[cli]") {
  const Place place(
      "filter = ['Passes.trivial Passes.world_of_2 Passes.world_of_2_or_4']\n"
      "[[overrides]]\nfilter = 'trivial'\nworld-size = 3\ntags = ['first']\ntimeout = '7s'\n"
      "[[overrides]]\nfilter = 'suite:Passes'\ntags = ['all']\nworld-size = 2\n"
      "[[overrides]]\nfilter = 'tag:first'\nworld-size = 5\n");
  const Ended listed = place.run({"list", plugin("passes")});
  CHECK(listed.out ==
        "Passes.trivial  (5 ranks)  all  first\n"
        "Passes.world_of_2  (2 ranks)  all  pair  small\n"
        "Passes.world_of_2_or_4  (2 ranks)  all\n");
  const Ended ended = place.run({"--output", place.sandbox().output(), plugin("passes")});
  CHECK(ended.exit_code == 0);
  CHECK(place.sandbox().summary().tests.size() == 3);
  CHECK(wrong_with_reports(place.sandbox()) == "");
  Place("timeout = '1s'\n[[overrides]]\nfilter = 'a'\nretrys = 2\n")
      .expect_refused({".distrun.toml:2: --overrides: retrys", "did you mean retries?"});
  place.expect_refused({"DISTRUN_OPTIONS: --overrides {filter", "expected an inline table"},
                       "--overrides '{filter = 1 2}'");
}

TEST_CASE("distrun runs as a test of Bazel does", "[cli]") {
  const Place place;
  const std::string folder = place.sandbox().temp();
  Command command = place.sandbox().command({plugin("passes")});
  for (const char* variable : {"TEST_SHARD_INDEX=1", "TEST_TOTAL_SHARDS=2", "TESTBRIDGE_TEST_ONLY=Passes.world_of_*"}) {
    command.environment.emplace_back(variable);
  }
  for (const char* file : {"XML_OUTPUT_FILE", "TEST_SHARD_STATUS_FILE", "TEST_PREMATURE_EXIT_FILE"}) {
    command.environment.push_back(std::string(file) + "=" + folder + "/" + file);
  }
  const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("shard 2/2 of 5 tests"));
  CHECK(std::filesystem::file_size(folder + "/XML_OUTPUT_FILE") > 0);
  CHECK(std::filesystem::exists(folder + "/TEST_SHARD_STATUS_FILE"));
  CHECK_FALSE(std::filesystem::exists(folder + "/TEST_PREMATURE_EXIT_FILE"));
}

TEST_CASE("a program is in no shard, and does not tell Bazel that it is", "[cli]") {
  const Place place;
  const std::string file = place.sandbox().temp() + "/shards";
  Command command = place.sandbox().command({"exec", "-w", "1", "--", "/bin/true"});
  command.environment.push_back("TEST_SHARD_STATUS_FILE=" + file);
  CHECK(Running(command).wait(scaled(milliseconds(30'000))).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("an error in the environment is refused with the variable's name", "[cli]") {
  const Place place;
  place.expect_refused({"DISTRUN_OPTIONS", "--world-size 0"}, "--world-size 0");
  place.expect_refused({"DISTRUN_OPTIONS", "--no-such"}, "--no-such");
  place.expect_refused({"DISTRUN_OPTIONS", "plugin.so"}, "plugin.so");
  place.expect_refused({"DISTRUN_OPTIONS", "--debug"}, "--debug 0");
  place.expect_refused({"DISTRUN_OPTIONS", "--help"}, "--help");
  Command command = place.sandbox().command({plugin("passes")});
  command.environment.emplace_back("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT=soon");
  const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT") && Contains("soon"));
}

TEST_CASE("a settings file that is named must exist, and be a file", "[cli]") {
  const Place place;
  for (const std::string& path : {std::string("gone.toml"), place.sandbox().temp(), std::string("/dev/zero")}) {
    const Ended ended = place.run({"--config", path, plugin("passes")});
    CHECK(ended.exit_code == 2);
    CHECK_THAT(ended.err, Contains(path) && Contains("file"));
  }
}

TEST_CASE("an unknown option is answered with the nearest known one", "[cli]") {
  const Place place;
  const Ended ended = place.run({"--timout", "3", plugin("passes")});
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains("did you mean --timeout?"));
}

TEST_CASE("the schema of settings files has every setting that --print-config shows", "[cli]") {
  const Place place("nonsense = 1\n");  // a file with mistakes is what it is for
  const Ended schema = place.run({"--print-config-schema"});
  CHECK(schema.exit_code == 0);
  const auto json = nlohmann::json::parse(schema.out);
  CHECK(json["additionalProperties"] == false);
  const auto& properties = json["properties"];
  const Place other("");
  std::istringstream lines(other.run({"--print-config"}).out);
  int settings = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::regex setting("(# )?([a-z-]+) (=|is not set).*");
    std::smatch found;
    if (!std::regex_match(line, found, setting)) continue;
    ++settings;
    CAPTURE(line);
    CHECK(properties.contains(found[2].str()));
  }
  CHECK(settings > 40);
  CHECK(properties.size() == static_cast<std::size_t>(settings));
  CHECK(properties["fail-fast"]["type"] == "boolean");
  CHECK(properties["isolation"]["enum"].size() == 4);
  CHECK(properties["overrides"]["items"]["required"][0] == "filter");
  CHECK(properties["overrides"]["items"]["properties"].contains("world-size"));
  CHECK_FALSE(properties.contains("stress"));
  for (const auto& [name, property] : properties.items())
    CHECK_FALSE(property["description"].get<std::string>().empty());
}

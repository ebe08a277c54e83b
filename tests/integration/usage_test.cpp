// Arguments that the command line refuses, and the messages.
#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;

struct Refused {
  std::vector<std::string> arguments;
  std::vector<std::string> parts;  // of the message: option, value, limit or choice
};

// Options that say which tests run, and how often.
std::vector<Refused> refused_selections() {
  return {
      {{"--repeat", "0"}, {"--repeat", "0"}},
      {{"--repeat", "some"}, {"--repeat", "some"}},
      {{"--retries", "-1"}, {"--retries", "-1"}},
      {{"--retries", "1", "--retry-on", "fail,pass"}, {"--retry-on", "pass", "fail", "infra-error"}},
      {{"--retry-on", "fail"}, {"--retry-on", "add --retries 1"}},
      {{"--flaky", "maybe"}, {"--flaky", "maybe", "pass", "fail"}},
      {{"--shard", "0/3"}, {"--shard", "0/3", "1 to N", "1/3"}},
      {{"--shard", "4/3"}, {"--shard", "4/3"}},
      {{"--shard", "2"}, {"--shard", "2"}},
      {{"--order", "random"}, {"--order", "random", "declared", "failed-first"}},
      {{"--order", "failed-first", "--shuffle"}, {"--order", "failed-first", "--shuffle"}},
      {{"--filter", "tag:slow &"}, {"--filter", "tag:slow &", "a pattern is missing at the end"}},
  };
}

// Cases without plugins; `arguments` follow the subcommand.
std::vector<Refused> refused() {
  return {
      {{"--world-size", "0"}, {"--world-size", "0", "1024"}},
      {{"--world-size", "1025"}, {"--world-size", "1025", "1024"}},
      {{"--world-size", "-3"}, {"--world-size", "-3"}},
      {{"--world-size", "4x"}, {"--world-size", "4x"}},
      {{"--world-size", "1,,2"}, {"--world-size"}},
      {{"--world-size", "4-2"}, {"--world-size", "2"}},
      {{"--world-size", "1-65"}, {"--world-size 1-65 has 65 sizes, the limit is 64"}},
      {{"--world-size", ""}, {"--world-size"}},
      {{"--world-size", "99999999999999999999"}, {"--world-size", "99999999999999999999"}},
      {{"--timeout", "5 parsecs"}, {"--timeout", "5 parsecs", "30s"}},
      {{"--timeout", "-1s"}, {"--timeout", "-1s"}},
      {{"--timeout", "0"}, {"--timeout", "0"}},
      {{"--timeout", "inf"}, {"--timeout", "inf"}},
      {{"--timeout-override", "soon"}, {"--timeout-override", "soon"}},
      {{"--timeout-scale", "0"}, {"--timeout-scale", "0"}},
      {{"--timeout-scale", "-1"}, {"--timeout-scale", "-1"}},
      {{"--timeout-scale", "nan"}, {"--timeout-scale", "nan"}},
      {{"--run-timeout", "0"}, {"--run-timeout", "0"}},
      {{"--slow", "-1"}, {"--slow", "-1"}},
      {{"--config", "gone.toml"}, {"gone.toml", "--config none"}},
      {{"--rerun-failed", "gone.json"}, {"gone.json"}},
      {{"--isolation", "thin"}, {"--isolation", "thin", "process", "exec"}},
      {{"--backend", "glue"}, {"--backend", "glue", "shm", "gloo"}},
      {{"--agent", "bond"}, {"--agent", "bond", "pipe", "inproc"}},
      {{"--faults", "7:drop:retryable:0.1"}, {"--faults", "retryable", "fork_request", "drop:retriable:0.1"}},
      {{"--faults", "drop:any:0.1"}, {"--faults", "SEED:PLAN", "7:drop"}},
      {{"--rpc-transport", "pigeon"}, {"--rpc-transport", "pigeon", "best", "tcp"}},
      {{"--gpu-driver", "magic"}, {"--gpu-driver", "magic", "virtual", "none"}},
      {{"--gpus", "-1"}, {"--gpus", "-1"}},
      {{"--gpus", "4"}, {"--gpus 4", "--gpu-driver auto", "add --gpu-driver virtual"}},
      {{"--gpus", "2", "--gpu-driver", "cuda"}, {"--gpus 2", "--gpu-driver cuda", "leave --gpus out"}},
      {{"--gpu-driver", "virtual"}, {"--gpu-driver virtual", "add --gpus N, 1 to 64"}},
      {{"--quiet", "--verbose"}, {"--verbose", "--quiet"}},
      {{"--color", "purple"}, {"--color", "purple", "always", "never"}},
      {{"--leaks", "some"}, {"--leaks", "some", "strict", "off"}},
      {{"--exit", "soon"}, {"--exit", "soon", "handlers", "quick"}},
      {{"--quiet", "--github=often"}, {"--github", "often", "auto", "off"}},
      {{"--quiet", "--show-output"}, {"--show-output", "--quiet"}},
      {{"--quiet", "--live-output"}, {"--live-output", "--quiet"}},
      {{"--bind", "cores"}, {"--bind cores", "none, core, numa", "did you mean core"}},
      {{"--lock-limit", "database"}, {"--lock-limit database", "LOCK=N"}},
      {{"--lock-limit", "database=0"}, {"--lock-limit database=0", "1 to 256"}},
      {{"--lock-limit", "=2"}, {"--lock-limit =2", "LOCK=N"}},
      {{"--lock-limit", "a=2", "--lock-limit", "a=3"}, {"--lock-limit a=3", "one limit"}},
      {{"--live-output", "--jobs", "2"}, {"--live-output", "--jobs 1"}},
      {{"--live-output", "--stress", "1m"}, {"--live-output", "--stress"}},
      {{"--quiet", "--github-skips"}, {"--github-skips", "--github"}},
      {{"--github", "--events", "-"}, {"--github", "standard output"}},
      {{"--github", "--ctrf", "/dev/stdout"}, {"--github", "standard output"}},
      {{"--seed", "abc"}, {"--seed", "abc"}},
      {{"--env", "NOTHING"}, {"--env", "NOTHING", "="}},
      {{"--env", "=value"}, {"--env", "=value"}},
      {{"--filter"}, {"--filter"}},
      {{"--world-sise", "4"}, {"--world-sise", "did you mean --world-size?"}},
      {{"--backend", "glo"}, {"--backend", "glo", "did you mean gloo?"}},
  };
}

std::vector<Refused> refused_wrappers() {
  return {
      {{"--wrap", "'valgrind"}, {"--wrap: a quote (') is not closed in 'valgrind"}},
      {{"--wrap", "  "}, {"--wrap: the command is empty"}},
      {{"--wrap-rank", "strace"}, {"--wrap-rank strace", "RANK=COMMAND"}},
      {{"--wrap-rank", "x=strace"}, {"--wrap-rank x"}},
      {{"--wrap-rank", "1=a", "--wrap-rank", "1=b"}, {"rank 1 has two commands"}},
      {{"--wrap", "strace", "--isolation", "pool"}, {"--wrap cannot be combined with --isolation pool"}},
      {{"--wrap", "strace", "--isolation", "threads"}, {"--wrap cannot be combined with --isolation threads"}},
      {{"--wrap", "strace", "--hosts", "a,b"}, {"--wrap works on this machine only", "--hosts"}},
      {{"--wrap", "strace", "--debug", "0"}, {"--wrap cannot be combined with --debug"}},
      {{"--core", "yes"}, {"--core yes", "on, off"}},
      {{"--core", "on", "--hosts", "a,b"}, {"--core on works on this machine only", "--hosts"}},
  };
}

// Options of other launchers: the message names ours.
std::vector<Refused> refused_from_elsewhere() {
  return {
      {{"-n", "4"}, {"-n", "--world-size N (ranks of a test) or --jobs N (tests in parallel)"}},
      {{"-n4", "--quiet"}, {"-n", "--world-size N"}},
      {{"-np", "4"}, {"-np", "distrun calls it --world-size N"}},
      {{"--nproc_per_node=4", "--quiet"}, {"--nproc_per_node", "--world-size N"}},
      {{"-k", "name"}, {"-k", "--filter 'Suite.name*'"}},
      {{"--gtest_filter=Suite.*", "--quiet"}, {"--gtest_filter", "--filter 'Suite.name*'"}},
      {{"-x", "--quiet"}, {"-x", "--fail-fast", "--env NAME=VALUE"}},
  };
}

void expect_refusal(const Ended& ended, const std::vector<std::string>& parts) {
  INFO("it said: " << ended.err);
  CHECK(ended.exit_code == kUsage);
  CHECK(ended.out.empty());
  for (const std::string& part : parts) CHECK_THAT(ended.err, Catch::Contains(part));
  CHECK_THAT(ended.err, Catch::Contains("--help"));  // the way to help
  CHECK(unprintable(ended.err).empty());
}

void expect_refusals(const std::vector<Refused>& examples) {
  const Sandbox sandbox(distrun_program());
  for (const Refused& example : examples) {
    std::vector<std::string> arguments = {"run"};
    arguments.insert(arguments.end(), example.arguments.begin(), example.arguments.end());
    if (example.arguments.size() > 1) arguments.push_back(plugin("passes"));
    INFO("distrun run " << example.arguments.front() << " "
                        << (example.arguments.size() > 1 ? example.arguments[1] : ""));
    expect_refusal(sandbox.run(arguments), example.parts);
  }
  CHECK(sandbox.remains().empty());
}

}  // namespace

TEST_CASE("an invalid value of an option is named with the option and the limit", "[cli]") {
  expect_refusals(refused());
  expect_refusals(refused_selections());
  expect_refusals(refused_wrappers());
}

TEST_CASE("an option of another launcher is answered with distrun's", "[cli]") {
  expect_refusals(refused_from_elsewhere());
}

TEST_CASE("a command line without a plugin is refused", "[cli]") {
  const Sandbox sandbox(distrun_program());
  expect_refusal(sandbox.run({"run"}), {"plugin"});
  expect_refusal(sandbox.run({"list"}), {"plugin"});
  CHECK(sandbox.run({}).exit_code == kUsage);
}

TEST_CASE("a value that would break a terminal is shown escaped", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--isolation", "\x1b[2J\xff", plugin("passes")});
  expect_refusal(ended, {"--isolation"});
}

TEST_CASE("help names every option and exit code", "[cli]") {
  const Sandbox sandbox(distrun_program());
  Ended ended = sandbox.run({"run", "--help"});
  CHECK(ended.exit_code == 0);
  for (const char* part : {"--world-size",
                           "--backend",
                           "--agent",
                           "--gpu-driver",
                           "--gpus",
                           "--isolation",
                           "--filter",
                           "--timeout",
                           "--timeout-override",
                           "--timeout-scale",
                           "--repeat",
                           "--retries",
                           "--retry-on",
                           "--flaky",
                           "--run-timeout",
                           "--fail-fast",
                           "--seed",
                           "--env",
                           "--output",
                           "--json",
                           "--junit",
                           "--events",
                           "--ctrf",
                           "--github",
                           "--jobs",
                           "--keep-work-dir",
                           "--private-tmp",
                           "--leaks",
                           "--exit",
                           "--skips-pass",
                           "--color",
                           "--shard",
                           "--shuffle",
                           "--until-fail",
                           "--stress",
                           "--stress-load",
                           "--order",
                           "--history",
                           "--daemon",
                           "--rerun-failed",
                           "--slow",
                           "--config",
                           "--print-config-schema",
                           "--rpc-transport",
                           "--faults",
                           "130"}) {
    CHECK_THAT(ended.out, Catch::Contains(part));
  }
  CHECK_THAT(ended.out, Catch::Contains("--version"));
  for (const std::vector<std::string>& way :
       std::vector<std::vector<std::string>>{{"--version"}, {"version"}, {"run", "--version"}}) {
    ended = sandbox.run(way);
    CHECK(ended.exit_code == 0);
    CHECK_THAT(ended.out, Catch::Matches("distrun [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  }
}

TEST_CASE("a misspelt command is answered with a question, not taken for a plugin", "[cli]") {
  const Sandbox sandbox(distrun_program());
  expect_refusal(sandbox.run({"lst", plugin("passes")}), {"lst is not a command", "did you mean list?"});
  expect_refusal(sandbox.run({"histroy"}), {"histroy", "did you mean history?"});
  expect_refusal(sandbox.run({"versoin"}), {"did you mean version?"});
  // A plugin may have any name if its file exists.
  std::filesystem::copy_file(plugin("passes"), sandbox.start_directory() + "/lst");
  CHECK(sandbox.run({"lst", "--filter", "Passes.trivial"}).exit_code == 0);
  // A word unlike any command is taken for a missing plugin.
  CHECK_THAT(sandbox.run({"plugin"}).out, Catch::Contains("plugin"));
}

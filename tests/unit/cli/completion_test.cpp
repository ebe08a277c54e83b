#include <catch2/catch.hpp>

#include <algorithm>

#include "help/completion.hpp"
#include "options/command_line.hpp"

using namespace distrun::cli;

namespace {

using Words = std::vector<std::string>;

// Completes with the real options.
Candidates found(const Words& words) { return candidates_for(describe_commands(), words); }

Words texts_of(const Candidates& candidates) {
  Words texts;
  for (const Candidate& candidate : candidates.words) texts.push_back(candidate.text);
  return texts;
}

bool has(const Candidates& candidates, const std::string& text) {
  const Words texts = texts_of(candidates);
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

TEST_CASE("the first word may be a command, a plugin or an option of run") {
  const Candidates any = found({""});
  for (const char* command :
       {"run", "exec", "list", "show", "ps", "stacks", "doctor", "attach", "cancel", "history", "completion"}) {
    CHECK(has(any, command));
  }
  CHECK(any.paths == PathKind::Plugin);
  CHECK(texts_of(found({"sta"})) == Words{"stacks"});
  CHECK(has(found({"--world"}), "--world-size"));
}

TEST_CASE("options of a command are found by their prefix, and described") {
  CHECK(texts_of(found({"run", "--timeout-s"})) == Words{"--timeout-scale"});
  CHECK(texts_of(found({"list", "--js"})) == Words{"--json"});
  CHECK(found({"list", "--junit"}).words.empty());  // an option of run only
  CHECK_FALSE(found({"--world-size"}).words.front().description.empty());
}

TEST_CASE("values are the choices of the option, or its kind of argument") {
  CHECK(texts_of(found({"--isolation", ""})) == Words{"process", "exec", "pool", "threads"});
  CHECK(texts_of(found({"plugin.so", "--gpu-driver", "v"})) == Words{"virtual"});
  CHECK(texts_of(found({"--color=a"})) == Words{"--color=auto", "--color=always"});
  CHECK(texts_of(found({"completion", ""})) == Words{"bash", "zsh", "fish"});
  CHECK(found({"--json", ""}).paths == PathKind::Any);
  CHECK(found({"-o", "x"}).paths == PathKind::Directory);
  CHECK(found({"--output=x"}).paths == PathKind::Directory);
  CHECK(texts_of(found({"--history", ""})) == Words{"off"});
  CHECK(found({"--history", ""}).paths == PathKind::Any);
  CHECK(found({"exec", "--", "tr"}).paths == PathKind::Any);
  CHECK(found({"doctor", "--after", "5s", "--", "tr"}).paths == PathKind::Any);
  CHECK(found({"doctor", ""}).runs);
  CHECK(found({"--seed", ""}).words.empty());
  CHECK(found({"show", ""}).paths == PathKind::Any);
}

TEST_CASE("a filter takes tests of the plugins that are named") {
  const Candidates candidates = found({"a.so", "--world-size", "2.so", "b/c.so", "--filter", "Ring"});
  CHECK(candidates.tests);
  CHECK(candidates.plugins == Words{"a.so", "b/c.so"});
  CHECK(found({"list", "a.so", "--filter="}).prefix == "--filter=");
}

TEST_CASE("stacks and attach take a run, then a rank") {
  CHECK(found({"stacks", ""}).runs);
  CHECK(found({"attach", "3f"}).runs);
  CHECK_FALSE(found({"attach", "3f9c", ""}).runs);
  CHECK_FALSE(found({"ps", "3f9c", ""}).runs);  // it takes one argument
}

TEST_CASE("a flag takes no value, so the next word is completed independently") {
  CHECK(found({"--fail-fast", ""}).paths == PathKind::Plugin);
  CHECK(found({"--until-fail", ""}).paths == PathKind::Plugin);
}

TEST_CASE("unknown words have no completions") {
  CHECK(found({}).words.empty());
  CHECK(found({"--no-such=", ""}).paths == PathKind::Plugin);
  CHECK(found({"--no-such=x"}).words.empty());
  CHECK(candidates_for({}, {""}).words.empty());
}

TEST_CASE("there is a script for each shell that can be named") {
  for (const std::string& shell : split_choices(kShells)) {
    CHECK(completion_script(shell).find("complete -- ") != std::string::npos);
  }
}

#include "parsing.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/text.hpp>

#include "help/help_text.hpp"

namespace distrun::cli {
namespace {

struct Ours {
  const char* name;
  const char* more;  // its value and meaning
};

// Names of options in other launchers and test programs, and distrun's options for them.
struct Elsewhere {
  const char* name;
  std::vector<Ours> ours;
};

const std::vector<Elsewhere>& options_elsewhere() {
  static const Ours ranks{"--world-size", " N (ranks of a test)"}, filter{"--filter", " 'Suite.name*'"};
  static const Ours first{"--fail-fast", " (end after the first failure)"};
  static const Ours variable{"--env", " NAME=VALUE (a variable of the ranks)"};
  static const std::vector<Elsewhere> all{
      {"-n", {ranks, {"--jobs", " N (tests in parallel)"}}},
      {"-np", {ranks}},
      {"--np", {ranks}},
      {"--ntasks", {ranks}},
      {"--nproc-per-node", {ranks}},
      {"--nproc_per_node", {ranks}},
      {"-k", {filter}},
      {"--gtest_filter", {filter}},
      {"-x", {first, variable}},
      {"--exitfirst", {first}},
      {"--gtest_repeat", {{"--repeat", " N"}}},
      {"--gtest_list_tests", {{"distrun list", ""}}},
      {"--collect-only", {{"distrun list", ""}}},
  };
  return all;
}

// Returns "; distrun calls it --world-size N (ranks of a test)", with the options that this command has.
std::string ours_of(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> ours;
  for (const Elsewhere& each : options_elsewhere()) {
    if (each.name != name) continue;
    for (const Ours& option : each.ours) {
      const std::string ours_name = option.name;
      const bool is_here = std::find(known.begin(), known.end(), ours_name) != known.end();
      if (is_here || !ours_name.starts_with('-')) ours.push_back(ours_name + option.more);
    }
  }
  return ours.empty() ? "" : "; distrun calls it " + base::joined_by_or(ours);
}

// Returns --np for "--np=4", and -n for "-n4".
std::string name_of_option(const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  if (name.starts_with("--")) return name;
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == std::string::npos ? name : name.substr(0, last + 1);
}

// Returns a hint for the first unknown option.
std::string hint(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const OptionInfo& option : info_of(app).options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = name_of_option(word);
    if (name.size() < 2 || name.front() != '-' || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (std::string ours = ours_of(name, known); !ours.empty()) return ours;
    if (name.starts_with("--")) return base::did_you_mean(name, known);
  }
  return "";
}

}  // namespace

void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, base::one_line(text, 400)); }

std::string one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  refuse(option + " " + text + ": unknown value; expected " + list + base::did_you_mean(text, choices));
}

std::string one_of(const std::string& option, const std::string& text, const char* choices) {
  return one_of(option, text, split_choices(choices));
}

base::Nanoseconds time_or_never(const char* option, const std::string& text) {
  return text == "0" ? base::Nanoseconds::zero() : base::parse_duration(option, text);
}

ColorChoice color_of(const std::string& text) {
  one_of("--color", text, kColors);
  return text == "always" ? ColorChoice::Always : text == "never" ? ColorChoice::Never : ColorChoice::Auto;
}

std::vector<wire::KeyValue> environment_of(const std::vector<std::string>& texts) {
  std::vector<wire::KeyValue> variables;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      refuse("--env " + text + ": expected KEY=VALUE (a report contains values only if its run had --env-values)");
    }
    variables.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return variables;
}

// A name may have a =, too.
std::vector<runner::LockLimit> lock_limits_of(const std::vector<std::string>& texts) {
  constexpr int kTestsMax = 256;  // as many as --jobs
  std::vector<runner::LockLimit> limits;
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.rfind('='), text.size());
    const std::string lock = text.substr(0, equals);
    const std::string_view count = std::string_view(text).substr(std::min(equals + 1, text.size()));
    int tests = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), tests);
    const bool is_number =
        error == std::errc{} && end == count.data() + count.size() && tests >= 1 && tests <= kTestsMax;
    if (lock.empty() || !is_number) {
      refuse("--lock-limit " + text + ": expected LOCK=N, N from 1 to " + std::to_string(kTestsMax));
    }
    const auto is_same = [&](const runner::LockLimit& limit) { return limit.lock == lock; };
    if (std::any_of(limits.begin(), limits.end(), is_same)) {
      refuse("--lock-limit " + text + ": this lock has a limit already; give one limit for each lock");
    }
    limits.push_back({lock, tests});
  }
  return limits;
}

bool parse(CLI::App& app, const Arguments& arguments) {
  app.get_help_ptr()->description("Print this text");
  if (arguments.described != nullptr) {
    *arguments.described = info_of(app);
    return false;
  }
  std::vector<std::string> words = arguments.words;
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    std::cout << help_text(info_of(app));
    return false;
  } catch (const CLI::CallForVersion& error) {
    std::cout << error.what() << "\n";
    return false;
  } catch (const CLI::ExtrasError& error) {
    refuse(error.what() + hint(app, arguments.words));
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  return true;
}

}  // namespace distrun::cli

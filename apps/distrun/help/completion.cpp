#include "completion.hpp"

#include <algorithm>

namespace distrun::cli {
namespace {

using Words = std::vector<std::string>;

// Returns "list" for "distrun list"; the first command is `run`.
std::string word_of(const CommandInfo& command) {
  const std::size_t blank = command.name.find(' ');
  return blank == std::string::npos ? "run" : command.name.substr(blank + 1);
}

std::string first_sentence(const std::string& text) { return text.substr(0, text.find_first_of(".;")); }

bool takes_value(const OptionInfo* option) { return option != nullptr && !option->is_flag(); }

class Completer {
 public:
  Completer(const CommandInfo& command, const Words& words) : command_(command), words_(words) {}

  Candidates find() {
    const std::string& last = words_.back();
    const std::size_t equals = last.find('=');
    const OptionInfo* before = words_.size() > 1 ? command_.find(words_[words_.size() - 2]) : nullptr;
    note_places();
    if (takes_value(before)) {
      add_values(*before, last);
    } else if (last.starts_with("--") && equals != last.npos) {
      found_.prefix = last.substr(0, equals + 1);
      const OptionInfo* option = command_.find(last.substr(0, equals));
      if (option != nullptr) add_values(*option, last.substr(equals + 1));
    } else if (last.starts_with('-')) {
      add_options(last);
    } else if (const OptionInfo* place = place_of_last()) {
      add_values(*place, last);
    }
    return std::move(found_);
  }

 private:
  // Notes the positional words, that is neither options nor their values, except the last.
  void note_places() {
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      if (words_[i].starts_with('-')) {
        if (takes_value(command_.find(words_[i]))) ++i;
        continue;
      }
      ++places_;
      if (words_[i].ends_with(".so")) found_.plugins.push_back(words_[i]);
    }
  }
  const OptionInfo* place_of_last() const {
    std::size_t place = 0;
    const bool is_after_dashes = std::find(words_.begin(), words_.end() - 1, "--") != words_.end() - 1;
    for (const OptionInfo& option : command_.options) {
      if (is_after_dashes && option.value == kProgram) return &option;
    }
    for (const OptionInfo& option : command_.options) {
      if (option.positional() && (place++ == places_ || option.repeats)) return &option;
    }
    return nullptr;
  }
  void add(const std::string& word, const std::string& description, const std::string& begin) {
    if (word.starts_with(begin)) found_.words.push_back({found_.prefix + word, description});
  }
  void add_options(const std::string& begin) {
    for (const OptionInfo& option : command_.options) {
      for (const std::string& name : option.names) add(name, first_sentence(option.description), begin);
    }
  }
  void add_values(const OptionInfo& option, const std::string& begin) {
    for (const std::string& choice : option.choices()) add(choice, "", begin);
    if (option.value == "PLUGIN.so") found_.paths = PathKind::Plugin;
    if (option.takes_file() || option.value == kProgram || option.value == "SUMMARY.json") found_.paths = PathKind::Any;
    if (option.takes_directory()) found_.paths = PathKind::Directory;
    found_.runs = option.value == "RUN";
    found_.tests = option.value == "EXPRESSION";
  }

  const CommandInfo& command_;
  const Words& words_;
  std::size_t places_ = 0;
  Candidates found_;
};

}  // namespace

Candidates candidates_for(const std::vector<CommandInfo>& commands, const Words& words) {
  if (words.empty() || commands.empty()) return {};
  const auto named = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandInfo& command) { return word_of(command) == words.front(); });
  if (words.size() > 1 && named != commands.end()) {
    const Words rest(words.begin() + 1, words.end());
    return Completer(*named, rest).find();
  }
  Candidates found = Completer(commands.front(), words).find();
  if (words.size() > 1) return found;
  for (const CommandInfo& command : commands) {
    if (word_of(command).starts_with(words.front())) {
      found.words.push_back({word_of(command), first_sentence(command.description)});
    }
  }
  return found;
}

}  // namespace distrun::cli

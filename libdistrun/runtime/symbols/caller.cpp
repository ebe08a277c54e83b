#include <distrun/runtime/symbols/caller.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <distrun/common/base/demangle.hpp>
#include <distrun/runtime/symbols/program_file.hpp>

namespace distrun::symbols {
namespace {

// A return address, with the calls that were inlined there.
struct Call {
  LoadedFile file;
  std::uint64_t address = 0;  // in the file
  NamedPlace place;
};

// The known data of a place; empty if unknown.
struct Caller {
  base::Location location;
  std::string text;
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Libraries that only run code on behalf of their callers. A sanitizer's is included because it wraps C functions.
bool is_of_system(const LoadedFile& file) {
  constexpr std::string_view kLibraries[] = {"libc.so",     "libstdc++.so", "libc++.so",   "libc++abi.so",
                                             "libgcc_s.so", "libm.so",      "libpthread.", "ld-linux",
                                             "libasan.so",  "libtsan.so",   "libubsan.",   "linux-vdso."};
  const std::string_view name = base_name(file.path);
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [name](std::string_view each) { return name.starts_with(each); });
}

// Headers of the C++ library and of distrun are compiled into the code that includes them.
bool is_users(const SourceLine& source) {
  constexpr std::string_view kOthers[] = {"/libdistrun/", "/include/distrun/", "/include/c++/", "/c++/v1/"};
  const auto is_in = [&source](std::string_view folder) { return source.file.find(folder) != std::string::npos; };
  return !source.file.empty() && std::none_of(std::begin(kOthers), std::end(kOthers), is_in);
}
// Used without line information. `or_of_library` also accepts C++ library functions: such an instantiation may be the
// only trace of the user's code.
bool is_users_function(const std::string& function, bool or_of_library) {
  const bool is_of_distrun = function.starts_with("distrun::") || function.starts_with("distrun_");
  return !is_of_distrun && (or_of_library || !function.starts_with("std::"));
}

// Never freed, since locations point to it.
const char* kept(const std::string& file) {
  static auto* const names = new std::map<std::string, bool>;  // guarded by the lock of Callers
  return names->try_emplace(file).first->first.c_str();
}

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(number));
  return text;
}

std::string name_of(const LoadedFile& file) {
  return file.path == kProgram ? "the program" : std::string(base_name(file.path));
}

// Includes the calls that were inlined there; innermost first.
std::vector<SourceLine> users_lines(const NamedPlace& place) {
  std::vector<SourceLine> lines{place.source};
  lines.insert(lines.end(), place.inlined_at.begin(), place.inlined_at.end());
  lines.erase(std::remove_if(lines.begin(), lines.end(), std::not_fn(is_users)), lines.end());
  return lines;
}
std::string line_text(const SourceLine& line) { return " at " + line.file + ":" + std::to_string(line.line); }

// Empty if the call is not in the user's code.
Caller caller_in(const Call& call, bool or_of_library) {
  Caller caller;
  if (is_of_system(call.file)) return caller;
  const std::vector<SourceLine> lines = users_lines(call.place);
  if (!lines.empty()) {
    caller.location = {kept(lines.front().file), lines.front().line};
    caller.text = line_text(lines.front());
  } else if (call.place.source.file.empty()) {
    const std::string function = base::demangled(call.place.function);
    if (!is_users_function(function, or_of_library)) return caller;
    caller.text = (function.empty() ? " at " + hex(call.address) : " in " + function) + " of " + name_of(call.file);
  }
  return caller;
}

std::vector<Call> calls_of(const core::CallStack& stack) {
  std::vector<Call> calls;
  std::map<std::uint64_t, std::vector<std::size_t>> of_files;  // by their bias
  for (const std::uint64_t pc : stack.pcs()) {
    if (core::is_in_own_library(pc)) continue;
    Call call{find_loaded(pc), 0, {}};
    if (call.file.path.empty()) continue;
    call.address = pc - call.file.bias;
    of_files[call.file.bias].push_back(calls.size());
    calls.push_back(std::move(call));
  }
  for (const auto& [bias, numbers] : of_files) {
    const LoadedFile& file = calls[numbers.front()].file;
    if (is_of_system(file)) continue;
    std::vector<std::uint64_t> addresses;
    for (const std::size_t number : numbers) addresses.push_back(calls[number].address);
    std::vector<NamedPlace> places = name_places(file, addresses);
    for (std::size_t i = 0; i < numbers.size(); ++i) calls[numbers[i]].place = std::move(places[i]);
  }
  return calls;
}

// The function is the one that the others were inlined into.
void add_calls(const Call& call, std::vector<std::string>& calls) {
  const std::vector<SourceLine> lines = is_of_system(call.file) ? std::vector<SourceLine>() : users_lines(call.place);
  for (const SourceLine& line : lines) {
    const bool is_last = &line == &lines.back();
    calls.push_back((is_last ? base::demangled(call.place.function) : "") + line_text(line));
  }
  if (lines.empty()) calls.push_back(caller_in(call, false).text);
}

// One per process; never destroyed.
class Callers {
 public:
  const Caller& find(const core::CallStack* stack) {
    const std::lock_guard lock(mutex_);
    const auto found = by_stack_.find(stack);
    if (found != by_stack_.end()) return found->second;
    Caller caller = stack != nullptr ? look_for(*stack) : Caller();
    return by_stack_.try_emplace(stack, std::move(caller)).first->second;
  }
  std::vector<std::string> all(const core::CallStack& stack) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const Call& call : calls_of(stack)) add_calls(call, texts);
    texts.erase(std::remove(texts.begin(), texts.end(), ""), texts.end());
    for (std::string& text : texts) text.erase(0, text.find_first_not_of(' '));
    return texts;
  }

 private:
  static Caller look_for(const core::CallStack& stack) {
    const std::vector<Call> calls = calls_of(stack);
    for (const bool or_of_library : {false, true}) {
      for (const Call& call : calls) {
        if (Caller caller = caller_in(call, or_of_library); !caller.text.empty()) return caller;
      }
    }
    return {};
  }

  std::mutex mutex_;
  std::unordered_map<const core::CallStack*, Caller> by_stack_;  // stacks have stable addresses
};

Callers& callers() {
  static auto* const only = new Callers;
  return *only;
}

const Caller& caller_of(const core::CallSite& site) {
  const Caller& own = callers().find(site.stack);
  return own.text.empty() ? callers().find(site.beginner) : own;
}

}  // namespace

std::string place_text(const core::CallSite& site) {
  const std::string step = site.step != nullptr ? " in " + *site.step : "";
  if (site.location.line == 0) return step + caller_of(site).text;
  return step + " at " + site.location.file + ":" + std::to_string(site.location.line);
}

std::vector<std::string> users_calls(const core::CallStack& stack) { return callers().all(stack); }

base::Location location_of(const core::CallSite& site) {
  return site.location.line == 0 ? caller_of(site).location : site.location;
}

}  // namespace distrun::symbols

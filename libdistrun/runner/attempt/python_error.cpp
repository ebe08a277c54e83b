#include <distrun/runner/attempt/python_error.hpp>

#include <algorithm>
#include <charconv>

#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kReadMax = 4096;  // only this much of a line is read
constexpr std::size_t kErrorTextMax = 300;

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::string_view kGroup = "Exception Group Traceback (most recent call last):";
constexpr std::string_view kFatal = "Fatal Python error: ";
constexpr std::string_view kTimeout = "Timeout (";  // faulthandler.dump_traceback_later()

struct Place {
  std::string_view file;
  std::uint32_t line = 0;
};

// Parses `  File "/src/train.py", line 12, in step` without its indentation; faulthandler writes "line 12 in step".
std::optional<Place> place_in(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string_view::npos || start == 0) return std::nullopt;
  line.remove_prefix(start);
  const std::size_t end = line.rfind(kLine);
  if (!line.starts_with(kFile) || end == std::string_view::npos || end < kFile.size()) return std::nullopt;
  Place place{line.substr(kFile.size(), end - kFile.size()), 0};
  const std::string_view number = line.substr(end + kLine.size());
  std::from_chars(number.data(), number.data() + number.size(), place.line);
  return place.line == 0 ? std::nullopt : std::optional(place);
}

bool is_of_library(std::string_view file) {
  return file.starts_with("<frozen ") || file.find("/lib/python3") != std::string_view::npos;
}

// The type of an exception is a name with dots; what follows it, if anything, is ": " and the text.
std::optional<std::string_view> type_in(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(": "));
  if (name.empty() || name.size() > 200) return std::nullopt;
  for (const char c : name) {
    const bool may_stand = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                           c == '.' || c == '<' || c == '>' || static_cast<unsigned char>(c) >= 0x80;
    if (!may_stand) return std::nullopt;
  }
  return name.front() >= '0' && name.front() <= '9' ? std::nullopt : std::optional(name);
}

// Reads the output line by line. What follows a header belongs to it until a line that is not indented.
class Reader {
 public:
  void read(std::string_view output) {
    while (!output.empty()) {
      const std::size_t end = output.find('\n');
      take(output.substr(0, end).substr(0, kReadMax));
      output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    }
  }
  std::optional<PythonError> found() const { return fatal_ ? fatal_ : exception_; }

 private:
  enum class In : std::uint8_t { Nothing, Traceback, FatalReport };

  void take(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (begin(line)) {
      previous_ = line;
      return;
    }
    if (in_ == In::Traceback) take_of_traceback(line);
    if (in_ == In::FatalReport) take_of_fatal(line);
    // The script itself cannot be compiled: there is no traceback yet.
    if (in_ == In::Nothing) take_syntax_error(line);
    previous_ = line;
  }

  bool begin(std::string_view line) {
    const std::size_t group = line.find(kGroup);
    if (line == kTraceback || (group != std::string_view::npos && line.starts_with("  + "))) {
      in_ = In::Traceback;
      prefix_ = group != std::string_view::npos ? "  | " : "";
      counts_ = !previous_.starts_with("Exception in thread ") && !previous_.starts_with("Exception ignored in");
      place_.reset();
      return true;
    }
    const bool is_timeout = line.starts_with(kTimeout) && line.ends_with(")!");
    if (!line.starts_with(kFatal) && !is_timeout) return false;
    in_ = In::FatalReport;
    const std::string_view text = is_timeout ? line : line.substr(kFatal.size());
    fatal_ =
        PythonError{is_timeout ? "faulthandler" : "Fatal Python error", base::one_line(text, kErrorTextMax), "", 0};
    is_current_ = is_timeout_ = is_timeout;
    return true;
  }

  void take_of_traceback(std::string_view line) {
    if (!line.starts_with(prefix_)) return;
    line.remove_prefix(prefix_.size());
    if (line.empty() || line.front() == ' ') return note(line);
    const auto type = type_in(line);
    if (type && counts_) exception_ = with_place(*type, line);
    in_ = In::Nothing;
    place_.reset();
  }

  // The frames of the current thread come first of their list: the innermost one that counts is the place.
  void take_of_fatal(std::string_view line) {
    if (line.starts_with("Current thread ")) is_current_ = true;
    if (line.starts_with("Thread ")) {
      if (fatal_->line != 0) in_ = In::Nothing;
      is_current_ = is_timeout_;
    }
    const auto place = is_current_ ? place_in(line) : std::nullopt;
    if (!place) return;
    const bool is_better = fatal_->line == 0 || (is_of_library(fatal_->file) && !is_of_library(place->file));
    if (!is_better) return;
    fatal_->file = base::printable(place->file);
    fatal_->line = place->line;
  }

  void take_syntax_error(std::string_view line) {
    if (line.starts_with("  File \"")) return note(line);
    const bool is_one =
        line.starts_with("SyntaxError: ") || line.starts_with("IndentationError: ") || line.starts_with("TabError: ");
    if (is_one && place_) exception_ = with_place(*type_in(line), line);
    if (!line.empty() && line.front() != ' ') place_.reset();
  }

  // The innermost frame comes last.
  void note(std::string_view line) {
    const auto place = place_in(line);
    if (!place) return;
    const bool is_better = !place_ || is_of_library(place_->file) || !is_of_library(place->file);
    if (is_better) place_ = place;
  }

  PythonError with_place(std::string_view type, std::string_view line) const {
    const std::string_view text = line.substr(std::min(line.size(), type.size() + 2));  // behind ": "
    PythonError error{std::string(type), base::one_line(text, kErrorTextMax), "", 0};
    if (!place_) return error;
    error.file = base::printable(place_->file);
    error.line = place_->line;
    return error;
  }

  In in_ = In::Nothing;
  std::string_view prefix_;  // of the lines of a group of exceptions
  std::string_view previous_;
  bool counts_ = true;       // the exception ends the program
  bool is_timeout_ = false;  // a timeout is of no thread
  bool is_current_ = false;  // the frames are those of the thread with the fatal error
  std::optional<Place> place_;
  std::optional<PythonError> fatal_;
  std::optional<PythonError> exception_;
};

}  // namespace

std::optional<PythonError> find_python_error(std::string_view output) {
  Reader reader;
  reader.read(output);
  return reader.found();
}

}  // namespace distrun::runner

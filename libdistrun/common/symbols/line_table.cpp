#include <distrun/common/symbols/line_table.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::symbols {
namespace {

[[noreturn]] void refuse(const char* why) { throw Error(ErrorKind::InvalidArgument, why); }

// The numbers of the format, as its standard names them.
enum Form : std::uint64_t {
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kData1 = 0x0b,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
};
enum Standard : std::uint8_t {
  kCopy = 1,
  kAdvancePc,
  kAdvanceLine,
  kSetFile,
  kSetColumn,
  kNegateStmt,
  kBasicBlock,
  kConstAddPc,
  kFixedAdvancePc
};
enum Extended : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };
constexpr std::uint64_t kPath = 1, kDirectoryIndex = 2;
constexpr std::uint32_t kWide = 0xffffffff;  // in place of a length: it follows in 64 bits

class Cursor {
 public:
  explicit Cursor(std::string_view rest, bool is_wide = false) : rest_(rest), is_wide_(is_wide) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  std::string_view string() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) refuse("a text of a line table does not end");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::uint64_t offset() { return is_wide_ ? number<std::uint64_t>() : number<std::uint32_t>(); }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) refuse("a line table ends early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool at_end() const noexcept { return rest_.empty(); }
  bool is_wide() const noexcept { return is_wide_; }

 private:
  std::string_view rest_;
  bool is_wide_;
};

// One unit's table: its header, the names of its files, which are read only if one is asked for, and its program.
class Unit {
 public:
  Unit(const LineSections& sections, Cursor in) : sections_(sections), names_(std::string_view()), program_(in) {
    version_ = in.number<std::uint16_t>();
    if (version_ < 2 || version_ > 5) refuse("a line table is of an unknown version");
    if (version_ == 5) in.number<std::uint16_t>();  // sizes of addresses and of segments
    Cursor header(in.take(in.offset()), in.is_wide());
    program_ = in;
    step_ = header.number<std::uint8_t>();
    if (version_ >= 4) header.number<std::uint8_t>();
    header.number<std::uint8_t>();
    line_base_ = header.number<std::int8_t>();
    line_range_ = header.number<std::uint8_t>();
    opcode_base_ = header.number<std::uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) refuse("a line table has no opcodes");
    lengths_ = header.take(opcode_base_ - 1U);
    names_ = header;
  }

  struct Row {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint32_t line = 1;
  };

  // on_row(from, to) for each stretch of addresses between two rows.
  template <class OnRange>
  void run(const OnRange& on_range) {
    std::optional<Row> last;
    Row row;
    const auto emit = [&] {
      if (last) on_range(*last, row.address);
      last = row;
    };
    while (!program_.at_end()) {
      const auto opcode = program_.number<std::uint8_t>();
      if (opcode >= opcode_base_) {
        const unsigned adjusted = opcode - opcode_base_;
        row.address += std::uint64_t{adjusted / line_range_} * step_;
        add_line(row, line_base_ + static_cast<int>(adjusted % line_range_));
        emit();
      } else if (opcode != 0) {
        run_standard(opcode, row, emit);
      } else if (run_extended(row)) {
        emit();
        last.reset();
        row = Row();
      }
    }
  }

  // Throws Error{InvalidArgument}.
  std::string file_name(std::uint64_t file) const { return version_ == 5 ? new_name(file) : old_name(file); }

 private:
  static void add_line(Row& row, std::int64_t more) { row.line += static_cast<std::uint32_t>(more); }

  template <class Emit>
  void run_standard(std::uint8_t opcode, Row& row, const Emit& emit) {
    switch (opcode) {
      case kCopy: return emit();
      case kAdvancePc: row.address += program_.uleb() * step_; return;
      case kAdvanceLine: return add_line(row, program_.sleb());
      case kSetFile: row.file = program_.uleb(); return;
      case kConstAddPc: row.address += std::uint64_t{(255U - opcode_base_) / line_range_} * step_; return;
      case kFixedAdvancePc: row.address += program_.number<std::uint16_t>(); return;
      default:
        for (int i = lengths_[opcode - 1U]; i > 0; --i) program_.uleb();
    }
  }
  // Whether a sequence has ended.
  bool run_extended(Row& row) {
    Cursor in(program_.take(program_.uleb()));
    if (in.at_end()) return false;
    const auto opcode = in.number<std::uint8_t>();
    if (opcode == kSetAddress) row.address = in.number<std::uint64_t>();
    return opcode == kEndSequence;
  }

  static std::string joined(std::string_view directory, std::string_view name) {
    if (directory.empty() || name.starts_with('/')) return std::string(name);
    return std::string(directory) + "/" + std::string(name);
  }

  std::string old_name(std::uint64_t file) const {
    Cursor in = names_;
    std::vector<std::string_view> directories{""};
    for (std::string_view each = in.string(); !each.empty(); each = in.string()) directories.push_back(each);
    for (std::uint64_t number = 1;; ++number) {
      const std::string_view name = in.string();
      if (name.empty()) refuse("a line table speaks of a file that it does not have");
      const std::uint64_t directory = in.uleb();
      in.uleb();
      in.uleb();
      if (number == file) return joined(directory < directories.size() ? directories[directory] : "", name);
    }
  }

  using Format = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  struct Entry {
    std::string_view path;
    std::uint64_t directory = 0;
  };

  static Format read_format(Cursor& in) {
    Format format(in.number<std::uint8_t>());
    for (auto& [content, form] : format) {
      content = in.uleb();
      form = in.uleb();
    }
    return format;
  }
  Entry read_entry(Cursor& in, const Format& format) const {
    Entry entry;
    for (const auto& [content, form] : format) {
      const Field field = read_field(in, form);
      if (content == kPath) entry.path = field.text;
      if (content == kDirectoryIndex) entry.directory = field.number;
    }
    return entry;
  }
  struct Field {
    std::string_view text{};
    std::uint64_t number = 0;
  };
  Field read_field(Cursor& in, std::uint64_t form) const {
    const auto text_at = [](std::string_view section, std::uint64_t at) -> Field {
      if (at >= section.size()) refuse("a line table speaks of a text that is not there");
      return {Cursor(section.substr(at)).string()};
    };
    switch (form) {
      case kString: return {in.string()};
      case kLineStrp: return text_at(sections_.line_strings, in.offset());
      case kStrp: return text_at(sections_.strings, in.offset());
      case kUdata: return {{}, in.uleb()};
      case kData1: return {{}, in.number<std::uint8_t>()};
      case kData2: return {{}, in.number<std::uint16_t>()};
      case kData4: return {{}, in.number<std::uint32_t>()};
      case kData8: return {{}, in.number<std::uint64_t>()};
      case kData16: return {in.take(16)};
      case kBlock: return {in.take(in.uleb())};
      default: refuse("a line table has fields of an unknown form");
    }
  }
  std::string new_name(std::uint64_t file) const {
    Cursor in = names_;
    const auto entry_at = [&](std::uint64_t wanted, bool to_the_end) {
      const Format format = read_format(in);
      Entry found;
      const std::uint64_t count = in.uleb();
      for (std::uint64_t i = 0; i < count && !in.at_end() && (to_the_end || i <= wanted); ++i) {
        const Entry entry = read_entry(in, format);
        if (i == wanted) found = entry;
      }
      return found;
    };
    const Cursor directories = in;
    entry_at(0, true);
    const Entry name = entry_at(file, false);
    in = directories;
    return name.path.empty() ? "" : joined(entry_at(name.directory, false).path, name.path);
  }

  const LineSections& sections_;
  std::uint16_t version_ = 0;
  std::uint8_t step_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::string_view lengths_;
  Cursor names_, program_;
};

void find_in(Unit& unit, std::span<const std::uint64_t> addresses, std::vector<SourceLine>& found) {
  const auto [least, most] = std::minmax_element(addresses.begin(), addresses.end());
  std::vector<std::optional<Unit::Row>> rows(addresses.size());
  unit.run([&, from = *least, to = *most](const Unit::Row& row, std::uint64_t end) {
    if (end <= from || row.address > to) return;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] >= row.address && addresses[i] < end) rows[i] = row;
    }
  });
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (rows[i]) found[i] = {unit.file_name(rows[i]->file), rows[i]->line};
  }
}

}  // namespace

std::vector<SourceLine> find_lines(const LineSections& sections, std::span<const std::uint64_t> addresses) {
  std::vector<SourceLine> found(addresses.size());
  if (addresses.empty()) return found;
  try {
    for (Cursor all(sections.lines); !all.at_end();) {
      const auto length = all.number<std::uint32_t>();
      const bool is_wide = length == kWide;
      const Cursor bytes(all.take(is_wide ? all.number<std::uint64_t>() : length), is_wide);
      try {
        Unit unit(sections, bytes);
        find_in(unit, addresses, found);
      } catch (const Error&) {  // the others may be in order
      }
    }
  } catch (const Error&) {
  }
  return found;
}

}  // namespace distrun::symbols

#pragma once
// Writes XML into a string. Text may be any bytes: those that XML cannot hold are made printable first.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::report {

class XmlWriter {
 public:
  XmlWriter();

  // Call attribute() right after open(), then add text or elements, then close().
  void open(const char* name);
  void attribute(const char* name, std::string_view value);
  void text(std::string_view content);
  void close();

  std::string take() { return std::move(out_); }

 private:
  void end_of_tag();

  std::string out_;
  std::vector<const char*> open_;
  bool in_tag_ = false;    // attributes may follow
  bool has_text_ = false;  // the innermost element contains text, so white space counts
};

}  // namespace distrun::report

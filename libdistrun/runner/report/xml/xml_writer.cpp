#include <distrun/runner/report/xml/xml_writer.hpp>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

// U+FFFE and U+FFFF are valid UTF-8 but not XML characters.
void replace_noncharacters(std::string& text) {
  for (std::size_t at = text.find("\xef\xbf"); at != std::string::npos; at = text.find("\xef\xbf", at + 3)) {
    const char last = text[at + 2];
    if (last == '\xbe' || last == '\xbf') text[at + 2] = '\xbd';
  }
}

void append_escaped(std::string& out, std::string_view content, bool in_attribute) {
  std::string text = base::printable(content);
  replace_noncharacters(text);
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += in_attribute ? "&quot;" : "\""; break;
      case '\n': out += in_attribute ? "&#10;" : "\n"; break;
      case '\t': out += in_attribute ? "&#9;" : "\t"; break;
      default: out += c;
    }
  }
}

}  // namespace

XmlWriter::XmlWriter() : out_("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") {}

void XmlWriter::open(const char* name) {
  end_of_tag();
  out_.append(open_.size() * 2, ' ');
  out_.append("<").append(name);
  open_.push_back(name);
  in_tag_ = true;
  has_text_ = false;
}

void XmlWriter::attribute(const char* name, std::string_view value) {
  out_.append(" ").append(name).append("=\"");
  append_escaped(out_, value, true);
  out_ += '"';
}

void XmlWriter::text(std::string_view content) {
  if (content.empty()) return;
  if (in_tag_) out_ += '>';
  in_tag_ = false;
  has_text_ = true;
  append_escaped(out_, content, false);
}

void XmlWriter::close() {
  const char* name = open_.back();
  open_.pop_back();
  if (in_tag_) {
    out_ += "/>\n";
  } else {
    if (!has_text_) out_.append(open_.size() * 2, ' ');
    out_.append("</").append(name).append(">\n");
  }
  in_tag_ = false;
  has_text_ = false;
}

void XmlWriter::end_of_tag() {
  if (in_tag_) out_ += ">\n";
  in_tag_ = false;
}

}  // namespace distrun::report

#include "nasty.hpp"

#include <random>

#include "samples.hpp"

namespace distrun::report::samples {

std::vector<std::string> nasty_texts(std::uint64_t seed) {
  std::vector<std::string> texts = {"::error::forged",
                                    "\n::error file=a,line=1::forged",
                                    "\r::warning::forged",
                                    "\r\n::stop-commands::x\n",
                                    "%0A::error::forged",
                                    "%",
                                    "a:b,c=d",
                                    "##[error]forged",
                                    "-->",
                                    "<!--",
                                    "]]>",
                                    "```",
                                    "`````\n```\n# title",
                                    "~~~",
                                    "</details>",
                                    "</code></summary><script>alert(1)</script>",
                                    "<img src=x onerror=y>",
                                    "| a | b |\n|---|",
                                    "# title\n- item\n\n    code",
                                    "[link](javascript:x)",
                                    "@somebody",
                                    "&lt;&#60;",
                                    "\\`",
                                    "\"quoted\"",
                                    "'",
                                    "\t",
                                    "\x1b[31mred\x1b[0m",
                                    "\x1b]0;title\x07",
                                    std::string("nul\0byte", 8),
                                    "\x7f\xff\xfe",
                                    "\xc0\x80",
                                    "\xed\xa0\x80",
                                    "\xf0\x9f\x92\xa5",
                                    "\xe2\x80\xa8 \xe2\x80\xae",
                                    "\xef\xbb\xbf",
                                    "\xc2\x9b"
                                    "2J",
                                    "",
                                    " ",
                                    "\n\n\n"};
  const std::size_t alone = texts.size();
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100; ++i) {
    std::string text;
    for (std::uint64_t parts = 2 + random() % 6; parts > 0; --parts) text += texts[random() % alone];
    texts.push_back(std::move(text));
  }
  return texts;
}

runner::TestRecord test_saying(const std::string& text) {
  runner::TestRecord test = failing();
  test.info.name = text + "name";
  test.info.file = test.plugin = text;
  test.info.parameters = {{text, text}};
  test.message = text;
  runner::AttemptRecord& attempt = test.attempts[0];
  attempt.message = text;
  attempt.leaks.push_back({runner::LeakKind::File, text, false});
  attempt.snapshots.emplace_back().text.emplace_back().add(evidence::Tone::Plain, "ring.cpp:7");
  runner::RankRecord& culprit = attempt.ranks[2];
  culprit.errors = {{text, text, text, 41, text, true, -1, {}}};
  culprit.notes = {{text, text}};
  culprit.measures = {{text, 1.5, text}};
  culprit.waiting_in = text;
  culprit.out.text = culprit.err.text = text;
  return test;
}

}  // namespace distrun::report::samples

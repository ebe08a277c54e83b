#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/attempt/python_error.hpp>

using namespace distrun;
using runner::find_python_error;
using runner::PythonError;

TEST_CASE("no Python error is found in output without one") {
  CHECK_FALSE(find_python_error(""));
  CHECK_FALSE(find_python_error("ValueError: of another program\n"));
  CHECK_FALSE(find_python_error("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"));
}

TEST_CASE("an uncaught exception is located in the innermost frame of the program") {
  const auto error = find_python_error(
      "epoch 1\n"
      "Traceback (most recent call last):\n"
      "  File \"/src/train.py\", line 30, in <module>\n"
      "    main()\n"
      "  File \"/src/train.py\", line 12, in main\n"
      "    json.loads(text)\n"
      "    ^^^^^^^^^^^^^^^^\n"
      "  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n"
      "    return _default_decoder.decode(s)\n"
      "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n");
  CHECK(error ==
        PythonError{"json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)", "/src/train.py", 12});
}

TEST_CASE("the exception that was raised last is the one that ended the program") {
  const auto error = find_python_error(
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 2, in <module>\n"
      "KeyError: 'x'\n"
      "\n"
      "During handling of the above exception, another exception occurred:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 4, in <module>\n"
      "RuntimeError: no x\n");
  CHECK(error == PythonError{"RuntimeError", "no x", "a.py", 4});
}

TEST_CASE("an exception may have no text, a name with any letters, and lines that end as on Windows") {
  CHECK(find_python_error(
            "Traceback (most recent call last):\r\n  File \"\xc3\xbc.py\", line 2, in f\r\nFehl\xc3\xa4r\r\n") ==
        PythonError{"Fehl\xc3\xa4r", "", "\xc3\xbc.py", 2});
}

TEST_CASE("a recursion that Python shortens does not hide the exception") {
  const auto error = find_python_error(
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 2, in f\n"
      "  [Previous line repeated 995 more times]\n"
      "RecursionError: maximum recursion depth exceeded\n");
  CHECK(error == PythonError{"RecursionError", "maximum recursion depth exceeded", "a.py", 2});
}

TEST_CASE("exceptions that do not end the program are left out") {
  CHECK_FALSE(
      find_python_error("Exception in thread Thread-1 (work):\n"
                        "Traceback (most recent call last):\n"
                        "  File \"a.py\", line 2, in work\n"
                        "ValueError: 1\n"));
  CHECK_FALSE(
      find_python_error("Exception ignored in: <function f at 0x7f>\n"
                        "Traceback (most recent call last):\n"
                        "  File \"a.py\", line 2, in f\n"
                        "ValueError: 1\n"));
}

TEST_CASE("a script that cannot be compiled has no traceback") {
  const auto error = find_python_error(
      "  File \"/src/train.py\", line 3\n"
      "    def f(:\n"
      "          ^\n"
      "SyntaxError: invalid syntax\n");
  CHECK(error == PythonError{"SyntaxError", "invalid syntax", "/src/train.py", 3});
}

TEST_CASE("a group of exceptions is one") {
  const auto error = find_python_error(
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"a.py\", line 5, in <module>\n"
      "  |     raise ExceptionGroup(\"both\", [ValueError(1)])\n"
      "  | ExceptionGroup: both (1 sub-exception)\n"
      "  +-+---------------- 1 ----------------\n"
      "    | ValueError: 1\n"
      "    +------------------------------------\n");
  CHECK(error == PythonError{"ExceptionGroup", "both (1 sub-exception)", "a.py", 5});
}

TEST_CASE("a fatal error is located in the current thread, which faulthandler shows innermost first") {
  const auto error = find_python_error(
      "Fatal Python error: Segmentation fault\n"
      "\n"
      "Thread 0x00007f01 (most recent call first):\n"
      "  File \"other.py\", line 9 in wait\n"
      "\n"
      "Current thread 0x00007f02 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 5 in string_at\n"
      "  File \"crash.py\", line 3 in f\n"
      "  File \"crash.py\", line 8 in <module>\n");
  CHECK(error == PythonError{"Fatal Python error", "Segmentation fault", "crash.py", 3});
}

TEST_CASE("a timeout of faulthandler is located in the first thread") {
  const auto error = find_python_error(
      "Timeout (0:00:05)!\n"
      "Thread 0x00007f02 (most recent call first):\n"
      "  File \"slow.py\", line 7 in wait\n"
      "Thread 0x00007f03 (most recent call first):\n"
      "  File \"slow.py\", line 2 in other\n");
  CHECK(error == PythonError{"faulthandler", "Timeout (0:00:05)!", "slow.py", 7});
}

TEST_CASE("torn and random output is read to its end") {
  const std::string whole =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: x\nFatal Python error: y\n"
      "Current thread 0x1 (most recent call first):\n  File \"b.py\", line 2 in g\n";
  for (std::size_t size = 0; size <= whole.size(); ++size) find_python_error(std::string_view(whole).substr(0, size));
  base::Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::string text = whole;
    for (int i = 0; i < 12; ++i) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    const auto error = find_python_error(text);
    if (error) CHECK(error->text.size() <= 310);
  }
}

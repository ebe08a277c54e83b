"""Marks the plain comments of a public header as documentation, for Doxygen.

A comment holds for the declaration beneath it, and for overloads that follow it directly; one that begins with "These"
or "Both", for all declarations up to the next comment or empty line. A comment after a declaration, on its line, holds
for that declaration. The comment under `#pragma once` is the header's. Text is plain: no commands of Doxygen, and what
Doxygen could take for one is escaped; `code` is in backticks, and lines that are indented by more than one space are
shown as they stand. Namespaces named detail, unnamed ones, explicit specializations, macros DISTRUN_DETAIL_*, macros
that the header undefines, and tables that it includes for these (*.inc) are left out.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cpp_text  # noqa: E402

COMMENT = re.compile(r"^(\s*)//( ?)(.*)$")
MACRO_CALL = re.compile(r"^[ \t]*DISTRUN_\w+\(.*\)[ \t]*$", re.M)  # declares what its macro's comment says
HIDDEN_SCOPE = re.compile(r"^\s*(?:inline\s+)?namespace\s*(?:[\w:]*\bdetail)?\s*$")
LABEL = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")
# Declarations that say nothing to users, or nothing that has to be said in a comment.
FORWARD = re.compile(r"^(?:template\s*<[^{]*>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+[\w:]+"
                     r"(?:\s*:\s*[\w:]+)?\s*;$")
SILENT = re.compile(r"^(?:friend\b|static_assert\b|using\s+(?:namespace\s+)?[\w:]+\s*;|using\s+enum\b"
                    r"|extern\s+template\b"
                    r"|template\s+(?:class|struct)\b|namespace\s+\w+\s*=|explicit\s+template|\}?;)")
GUIDE = re.compile(r"^(?:template\s*<[^{]*>\s*)?(?:explicit\s+)?(\w+)\s*\([^{}]*\)\s*->\s*\1\b")
USUAL = [
    (re.compile(r"^(?:virtual\s+)?~\w+\("), "Destroys it."),
    (re.compile(r"^(?:\w+\s+)*(\w+)\s*\(\s*(?:const\s+)?\1\s*&[^&]*=\s*delete\s*;$", re.S), "Not copyable."),
    (re.compile(r"^(\w+)\s*&\s*operator=\s*\(\s*(?:const\s+)?\1\s*&[^&]*=\s*delete\s*;$", re.S), "Not copyable."),
    (re.compile(r"^(?:\w+\s+)*(\w+)\s*\(\s*\1\s*&&[^&]*=\s*delete\s*;$", re.S), "Not movable."),
    (re.compile(r"^(\w+)\s*&\s*operator=\s*\(\s*\1\s*&&[^&]*=\s*delete\s*;$", re.S), "Not movable."),
    (re.compile(r"^(?:constexpr\s+)?(\w+)\s*\(\s*const\s+\1\s*&\s*\w*\s*\)"), "Copies it."),
    (re.compile(r"^(\w+)\s*&\s*operator=\s*\(\s*const\s+\1\s*&\s*\w*\s*\)"), "Copies it."),
    (re.compile(r"^(?:constexpr\s+)?(\w+)\s*\(\s*\1\s*&&\s*\w*\s*\)"), "Moves it."),
    (re.compile(r"^(\w+)\s*&\s*operator=\s*\(\s*\1\s*&&\s*\w*\s*\)"), "Moves it."),
    (re.compile(r"^(?:constexpr\s+)?\w+\s*\(\s*\)\s*(?:noexcept\s*)?(?:=\s*default\s*;|\{\s*\})$"),
     "The default."),
    (re.compile(r"^(?:friend\s+)?bool\s+operator[=!<>]=?=?\s*\([^;{]*\)[^;{]*=\s*default\s*;$"),
     "Compares all members."),
]


# A comment that holds for all declarations beneath it.
GROUP = re.compile(r"(?:These|Both)\b")


# Several variables in one declaration: Doxygen would give the comment to the first.
SEVERAL = re.compile(r"^\s*(?P<type>[\w:<>]+)\s"
                     r"(?P<names>\w+(?: = \w+|\{\})?(?:,\s*\w+(?: = \w+|\{\})?)+)\s*;$")


class Declaration:
    def __init__(self, text, first, last, scope, begin):
        self.text = text    # without comments
        self.first = first  # lines, from 0
        self.last = last    # of its head, for what has a body; then of the line with the '{'
        self.scope = scope  # a number for the scope that it stands in
        self.begin = begin  # its column


def declarations(code):
    """What is declared in namespaces, classes and enums, and the ranges of characters of hidden scopes."""
    found, hidden = [], []
    stack = []  # (kind, scope number, whether an enum, where its declaration began)
    numbers = iter(range(1, 1 << 30))
    start, line_of = 0, cpp_text.line_counter(code)
    parentheses = 0

    def here():
        return stack[-1] if stack else ("scope", 0, False, 0)

    def add(begin, end):
        text = code[begin:end]
        while True:
            label = LABEL.match(text)
            if not label:
                break
            begin, text = begin + label.end(), text[label.end():]
        begin += len(text) - len(text.lstrip())
        text = " ".join(text.split())
        if text:
            column = begin - (code.rfind("\n", 0, begin) + 1)
            found.append(Declaration(text, line_of(begin) - 1, line_of(max(begin, end - 1)) - 1, here()[1], column))

    for match in re.finditer(r"[{}();,]", code):
        at, mark = match.start(), match[0]
        kind, _, is_enum, _ = here()
        if mark in "()":
            parentheses += 1 if mark == "(" else -1
        elif mark == "{":
            if kind != "scope" or parentheses:
                stack.append(("block", 0, False, start))
                continue
            head = code[start:at]
            opened = cpp_text.kind_of(LABEL.sub("", head, 1)) if not is_enum else "value"
            begin = start
            if opened == "scope":
                if HIDDEN_SCOPE.match(head) or re.match(r"\s*template\s*<\s*>", head):
                    opened, begin = "hidden", start + _space(code, start)
                elif not re.match(r"\s*(?:inline\s+)?namespace\b|\s*extern\b", LABEL.sub("", head, 1)):
                    add(start, at + 1)
                start = at + 1
            elif opened == "function":
                add(start, at + 1)
            stack.append((opened, next(numbers), bool(re.search(r"\benum\b", head)) and opened == "scope", begin))
        elif mark == "}":
            kind, _, was_enum, begin = stack.pop() if stack else ("scope", 0, False, 0)
            if kind == "scope":
                if was_enum and code[start:at].strip():
                    stack.append((kind, _, was_enum, begin))
                    add(start, at)
                    stack.pop()
                start = at + 1
            elif kind == "hidden":
                hidden.append((begin, at + 1))
                start = at + 1
            elif kind == "function":
                start = at + 1
        elif kind == "scope" and not parentheses and (mark == ";" or (mark == "," and is_enum)):
            add(start, at + 1)
            start = at + 1
    lines = [(line_of(begin) - 1, line_of(end) - 1) for begin, end in hidden]
    return [one for one in found if not any(first <= one.first <= last for first, last in lines)], lines


def _space(code, at):
    return len(code[at:]) - len(code[at:].lstrip())


def escaped(text):
    """A line as Doxygen takes it literally; what is in backticks is so already."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r'([\\@<>&#%$])', r"\\\1", part).replace("--", r"\--")
                   for part in parts)


def as_text(lines):
    """The text of a comment: prose escaped, and lines indented by more than a list's as they stand."""
    out, verbatim = [], []

    def flush():
        while verbatim and not verbatim[-1].strip():
            verbatim.pop()
        if verbatim:
            is_code = re.search(r"[;{}]\s*(?://.*)?$|^\s*#|^\s*[\w:]+\(.*\)", "\n".join(verbatim), re.M)
            out.extend([("@code{.cpp}" if is_code else "@code{.unparsed}"), *verbatim, "@endcode"])
            verbatim.clear()

    in_list = False
    for line in lines:
        is_item = bool(re.match(r" {0,3}[-*] ", line))
        in_list = is_item or (in_list and line.startswith(" "))
        if line.startswith("  ") and not in_list:
            verbatim.append(line)
        elif not line.strip() and verbatim:
            verbatim.append(line)
        else:
            had = bool(verbatim)
            flush()
            if had:
                out.append("")
            out.append(escaped(line))
    flush()
    return out


def marked(text, name):
    """(the header with its comments marked, the source line of each of its lines, from 1)."""
    source = text.split("\n")
    code = MACRO_CALL.sub(lambda match: " " * len(match[0]), cpp_text.strip(text))
    stripped = code.split("\n")
    found, hidden = declarations(code)
    before, dropped = _placed(source, stripped, found, hidden)
    out, lines = [], []

    def put(number, *texts):
        for one in texts:
            out.append(one)
            lines.append(number + 1)

    head = _head_comment(source)
    put(0, "/// @file " + name)
    if head:
        put(head[0], *("/// " + line for line in as_text([source[i][2:].removeprefix(" ") for i in range(*head)])), "")
    for number, line in enumerate(source):
        docs = before.get(number, [])
        for _, doc in docs[:1]:
            several = SEVERAL.match(stripped_line(line, stripped[number]))
            for name in several["names"].split(",")[:-1] if several else []:
                put(number, *("/// " + one for one in doc), f"{several['type']} {name.strip()};")
            put(number, *("/// " + one for one in doc))
            if several:
                line = f"{several['type']} {several['names'].split(',')[-1].strip()};"
        comment = line[len(stripped[number].rstrip()):].lstrip() if stripped[number].strip() else line.lstrip()
        if number in dropped or MACRO_CALL.match(line):
            put(number, "")
        elif comment.startswith("//"):
            put(number, stripped_line(line, stripped[number]))
        else:
            put(number, line)
    return "\n".join(out), lines


def stripped_line(line, code):
    """The line without the comment at its end."""
    return line[:len(code.rstrip())]


def _head_comment(source):
    first = next((i for i, line in enumerate(source[:3]) if line.startswith("//")), None)
    if first is None:
        return None
    last = first
    while last < len(source) and source[last].startswith("//"):
        last += 1
    return first, last


def _block_above(source, line):
    """The lines of the comment that ends above `line`."""
    first = line
    while first > 0 and COMMENT.match(source[first - 1]):
        first -= 1
    return first


def _macros(source):
    """The macros of a header, as declarations; those that it undefines are none, and neither are tables (*.inc)."""
    number = 0
    helpers = {line.split()[1] for line in source if line.startswith("#undef ")}
    while number < len(source):
        macro = re.match(r"#\s*define\s+(\w+)", source[number])
        first = number
        while macro and source[number].endswith("\\"):
            number += 1
        if macro and not macro[1].startswith("DISTRUN_DETAIL_") and macro[1] not in helpers:
            yield Declaration("#define " + macro[1], first, number, -1, 0), None
        elif macro:
            yield None, (_block_above(source, first), number)
        elif re.match(r"#\s*include\s*<[^>]+\.inc>", source[first]):
            yield None, (first, first)
        number += 1


def _placed(source, stripped, found, hidden):
    """Documentation by the line that it stands before, and the lines that are left out."""
    dropped = {line for begin, end in hidden for line in range(begin, end + 1)}
    everything = [one for one in found if one.first not in dropped]
    for macro, gone in _macros(source):
        if macro:
            everything.append(macro)
        else:
            dropped.update(range(gone[0], gone[1] + 1))
    everything.sort(key=lambda one: (one.first, one.begin))
    for one in everything:
        if GUIDE.match(one.text):
            dropped.update(range(one.first, one.last + 1))
    before = {}
    said, told_of, group, at_line, scope = None, None, None, -2, None
    ends = _ends(source, stripped)
    for one in everything:
        if one.first in dropped:
            continue
        top = _block_above(source, one.first)
        own = None
        if top < one.first and not _continues(source, stripped, top):
            own = as_text([COMMENT.match(line)[3] for line in source[top:one.first]])
        runs_on = one.scope == scope and all(source[i].strip() for i in range(max(at_line, 0), one.first))
        scope, at_line = one.scope, one.last
        if own or not runs_on:
            group = None
        if own and GROUP.match(own[0]):
            own, group = None, own
        if SILENT.match(one.text) or FORWARD.match(one.text):
            continue
        trailing = ends.get(one.last) or ends.get(one.first)
        name = _name(one.text)
        shared = said if runs_on and name and name == told_of else None
        usual = next((words for pattern, words in USUAL if pattern.match(one.text)), None)
        if own and trailing:
            own = [*own, "", trailing]
        said = own or ([trailing] if trailing else None) or (None if usual else shared)
        told_of = name
        parts = said or ([usual] if usual else None)
        if group:
            parts = [*parts, "", *group] if parts else group
        if parts:
            before.setdefault(one.first, []).append((one.begin, parts))
    return before, dropped


def _name(text):
    """What a declaration declares, for overloads."""
    text = re.sub(r"^template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*(?:requires\s*\(.*?\)\s)?", "", text)
    text = re.sub(r"\bdecltype\(auto\)", "", text)
    found = re.search(r"(operator\s*(?:\(\)|[^\w\s(]+|\w+)|~?\w+)\s*\(", text)
    return found[1] if found else None


def _continues(source, stripped, top):
    """Whether the comment from line `top` goes on with one that began at the end of the line above."""
    if top == 0 or not stripped[top - 1].strip():
        return False
    column = len(source[top - 1]) - len(source[top - 1][len(stripped[top - 1].rstrip()):].lstrip())
    return source[top - 1][column:].startswith("//") and source[top].index("//") == column


def _ends(source, stripped):
    """The comments at the ends of lines of code, with the lines on which they go on."""
    found = {}
    for number, line in enumerate(source):
        code = stripped[number].rstrip()
        rest = line[len(code):].lstrip()
        if not code or not rest.startswith("//"):
            continue
        text = rest[2:].strip()
        below = number + 1
        while below < len(source) and COMMENT.match(source[below]) and _continues(source, stripped, number + 1):
            text += " " + COMMENT.match(source[below])[3].strip()
            below += 1
        if not re.match(r"NOLINT|clang-format|namespace\b", text):
            found[number] = escaped(re.sub(r"\s*NOLINT\S*:?.*$", "", text)[:1].upper() + text[1:])
    return found

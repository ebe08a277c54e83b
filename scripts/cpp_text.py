"""Just enough of C++ for scripts/tidy and scripts/layers: text without comments, where functions begin and
end, and statements with co_await. No parser: it knows brackets, and what stands before them."""
import re

# The folders at the top that hold the product.
PRODUCT = ("libdistrun", "agents", "apps", "plugins", "examples")

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|(?:u8|[uUL])?R"(?P<tag>[^ ()\\\t\n]*)\((?:.*?)\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def _blank(match):
    text = match[0]
    if text.startswith("/"):
        return re.sub(r"[^\n]", " ", text)
    quote = text[-1]
    inner = re.sub(r"[^\n]", " ", text[1:-1])
    return quote + inner + quote


def strip(text):
    """The code alone: comments, the insides of literals and preprocessor lines are blanks; lines stay."""
    text = LITERAL.sub(_blank, text)
    return DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


SCOPE = re.compile(r'^(?:inline\s+)?namespace\b|^extern\s*"|'
                   r"^(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum)\b", re.S)
FUNCTION_TAIL = re.compile(r"\)\s*(?:const|noexcept(?:\s*\([^()]*\))?|override|final|mutable|&&?|try|"
                           r"->[^{};]*|requires[^{};]*|\s)*$", re.S)
NAME = re.compile(r"([\w:~]+|operator[^\w\s]*)\s*\(")


def kind_of(head):
    """What a `{` after this text opens, outside of functions: a scope, a function or an initialiser."""
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)", "", head).strip()
    head = re.sub(r"^(?:public|private|protected)\s*:\s*", "", head)
    if SCOPE.match(head) and not FUNCTION_TAIL.search(head):
        return "scope"
    if re.search(r"\)\s*(?:noexcept\s*)?:[^:]", head):  # a constructor's initialisers
        return "function" if re.search(r"[)}]\s*$", head) else "value"
    return "function" if FUNCTION_TAIL.search(head) and not re.search(r"=\s*\[|=\s*$", head) else "value"


def functions(code):
    """(name, first line, last line) of every function that is no lambda; code as strip() leaves it."""
    found = []
    stack = []  # kinds of open braces
    head_start = 0
    opened = None
    line_of = line_counter(code)
    for match in re.finditer(r"[{};]", code):
        at, bracket = match.start(), match[0]
        inside = "function" in stack
        if bracket == "{":
            kind = "block" if inside else kind_of(code[head_start:at])
            stack.append(kind)
            if kind == "function":
                opened = head_start + _leading_space(code, head_start)
            if kind == "scope":
                head_start = at + 1
        elif bracket == "}":
            kind = stack.pop() if stack else "scope"
            if kind == "function":
                name = NAME.search(code, opened)
                found.append((name[1] if name else "?", line_of(opened), line_of(at)))
            if "function" not in stack and kind != "value":
                head_start = at + 1
        elif not inside and "value" not in stack:
            head_start = at + 1
    return found


def _leading_space(code, start):
    return len(code[start:]) - len(code[start:].lstrip()) if start < len(code) else 0


def line_counter(code):
    starts = [0] + [match.end() for match in re.finditer("\n", code)]

    def line_of(position):
        import bisect
        return bisect.bisect_right(starts, position)

    return line_of


# ---- statements with co_await

BLOCK_BEFORE = re.compile(r"(?:\)|\belse|\bdo|\btry|\bconst|\bnoexcept|\boverride|\bmutable|->\s*[\w:<>, ]+|[;{}])\s*$")
LAMBDA = re.compile(r"(?<![\w\])])\[([^\[\]]*)\]\s*(?=[({<])")


def _opens_block(code, brace):
    return bool(BLOCK_BEFORE.search(code[max(0, brace - 120):brace])) or not code[:brace].strip()


def _statement_start(code, at):
    """Walks back to where the statement begins; also tells whether a braced value is open around `at`."""
    in_value = False
    while at > 0:
        at -= 1
        if code[at] == ";":
            break
        if code[at] == "{":
            if _opens_block(code, at):
                break
            in_value = True
        elif code[at] == "}":
            # A closed value or lambda belongs to the expression; a closed block ends the statement before.
            if not re.match(r"\s*[,.)\]?:]", code[at + 1: at + 40]):
                break
            at = _matching_open(code, at)
    else:
        return 0, in_value
    return at + 1, in_value


def _matching_open(code, at):
    depth = 0
    while at >= 0:
        depth += {"}": 1, "{": -1}.get(code[at], 0)
        if depth == 0:
            return at
        at -= 1
    return 0


def _statement_end(code, start):
    """To its `;`, or for `if (...)` and its like to the end of the parentheses."""
    condition = re.compile(r"\s*(?:if|while|switch|for)\b[^(]*\(").match(code, start)
    at = condition.end() if condition else start
    depth = 1 if condition else 0
    while at < len(code):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth < 0 or (condition and depth == 0) or (code[at] == ";" and depth == 0):
            break
        at += 1
    return at


def _owns(captures):
    parts = [part.strip() for part in captures.split(",") if part.strip()]
    return any(not (part.startswith("&") or part == "this") for part in parts)


def await_hazards(code):
    """(line, what) of every statement with co_await that also builds a braced temporary or an owning lambda."""
    line_of = line_counter(code)
    seen = set()
    for match in re.finditer(r"\bco_await\b", code):
        start, in_value = _statement_start(code, match.start())
        if start in seen:
            continue
        seen.add(start)
        statement = code[start:_statement_end(code, start)]
        lambdas = [found for found in LAMBDA.finditer(statement)]
        if any(_owns(found[1]) for found in lambdas):
            yield line_of(match.start()), "a lambda that owns a copy"
            continue
        bodies = _without_lambda_bodies(statement, lambdas)
        if in_value or re.search(r"[\w>,(=]\s*\{", bodies):
            yield line_of(match.start()), "a braced temporary"


def _without_lambda_bodies(statement, lambdas):
    for found in reversed(lambdas):
        brace = statement.find("{", found.end())
        if brace < 0:
            continue
        depth, at = 0, brace
        while at < len(statement):
            depth += {"{": 1, "}": -1}.get(statement[at], 0)
            if depth == 0:
                break
            at += 1
        statement = statement[:found.start()] + statement[at + 1:]
    return statement


# ---- the functions of classes

CLASS = re.compile(r"^(?:class|struct|union)\s+(?:alignas\s*\([^)]*\)\s*)?([\w:]+)[^()=]*$", re.S)
NO_FUNCTION = re.compile(r"^(?:friend|using|typedef|static_assert)\b|\boperator\b|=\s*delete\s*$|~")


def classes(code, outer=""):
    """(name, position, [names of its functions]) of every class outside of functions; code as strip() leaves it.
    Constructors, destructors, operators and what is deleted are left out, and so is what it inherits."""
    found, start, at = [], 0, 0
    while at < len(code):
        if code[at] in ";}":
            start = at + 1
        elif code[at] == "{":
            head, end = code[start:at], _closing(code, at)
            kind = kind_of(head)
            name = CLASS.search(_plain(head)) if kind == "scope" else None
            if name:
                inner = code[at + 1:end]
                members = list(_members(inner))
                full = outer + name[1]
                found.append((full, start + _leading_space(code, start), [
                    function for function in map(_function_name, members) if function and function != name[1]]))
                found.extend((other, at + 1 + position, functions)
                             for other, position, functions in classes(inner, full + "::"))
            if name or kind != "scope":
                at = end
                if kind != "value":
                    start = end + 1
            else:
                start = at + 1
        at += 1
    return found


def _closing(code, at):
    depth = 0
    for match in re.finditer(r"[{}]", code[at:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return at + match.start()
    return len(code)


def _members(body):
    """The declarations of a class's body, without what is in their braces."""
    text, at = "", 0
    while at < len(body):
        if body[at] == ";":
            yield text
            text = ""
        elif body[at] == "{":
            kind = kind_of(text)
            at = _closing(body, at)
            if kind == "function":
                yield text
                text = ""
        else:
            text += body[at]
        at += 1


def _plain(declaration):
    """Without access specifiers, attributes and template arguments."""
    text = re.sub(r"\[\[.*?\]\]|\b(?:public|private|protected)\s*:(?!:)", " ", declaration, flags=re.S)
    before = None
    while before != text:  # from inside
        before, text = text, re.sub(r"<[^<>]*>", " ", text)
    return re.sub(r"^(?:\s|\btemplate\b)+", "", text).strip()


def _function_name(member):
    """The name that a declaration gives a function, or nothing if it declares something else."""
    text = _plain(re.sub(r"\b(?:alignas|decltype|requires|explicit)\s*\([^()]*\)|->", " ", member))
    name = re.match(r"[^(=]*[\w>*&]\s+[*&]*(\w+)\s*\(|[^(=]*[*&](\w+)\s*\(", text, re.S)
    if not name or NO_FUNCTION.search(text):
        return None
    return name[1] or name[2]

"""Judges what distrun has said of a specimen."""
import json
import re

HEADLINE_LINES = 3  # the cause must be told within these
NEVER = 10_000      # noise of a report that does not show the line to blame

# Each kind with its title (libdistrun/runner/record/doctor/cause_text.cpp), which the first line begins with, and with
# words that name it in texts without a title, the most specific first.
KINDS = [
    ("self-deadlock", "self-deadlock", r"held by the same thread|that it already holds"),
    ("collective-order", "different order of groups", r"different orders"),
    ("mismatched-collective", "different collectives", r"do not call the same|different barriers"),
    ("deadlock", "deadlock", r"(?<![\w.-])deadlock|wait(ing)? for each other"),
    ("starved-pool", "starved pool", r"starved"),
    ("livelock", "livelock", r"livelock"),
    ("traced", "traced", r"traces it|by a debugger"),
    ("stopped", "stopped", r"stopped \("),
    ("stuck-in-kernel", "stuck in the kernel", r"uninterruptible"),
    ("lost-notification", "lost notification", r"no live thread"),
    ("unsent-message", "nothing sent", r"no rank (sends|sets|will)"),
    ("device-wait", "device wait", r"device wait"),
    ("held-lock", "lock not released", r"held by"),
    ("child", "child that does not exit", r"for \d+ \(\S+\) to end|for child"),
    ("full-or-empty-channel", "channel without progress", r"other end"),
    ("spinning", "spinning", r"(?<![\w.])spinning"),
    ("not-started", "not started", r"in set-up|while loading"),
    ("stuck-at-exit", "stuck at exit", r"in exit\b"),
    ("missing-rank", "missing rank", r"; ranks? [\d, -]+ waited in (barrier|all_|init)"),
    ("slow", "slow", r"makes progress"),
    ("unknown", "unknown cause", r"unknown cause"),
]
# What is never said of a run that only looks like a hang.
ALARMS = {
    "deadlock": r"(?<![\w./])(self-)?deadlock(?![\w.(])",
    "spinning": r"(?<![\w./])spinning(?![\w.(])",
    "livelock": r"(?<![\w./])livelock(?![\w.(])",
    "lost-notification": r"(?<![\w./])lost notification(?![\w.(])",
}
DETAILS = {"child": r"\bchild\b|\bprocess \d+|(?<!thread )\b\d+ \([\w-]+\)", "thread": r"\bthreads?\b"}
RANKS = re.compile(r"\branks? (\d+(?:-\d+)?(?:(?:, | and )\d+(?:-\d+)?)*)")


class Said:
    """What distrun has said: its report as text and, if there is one, the summary's test."""

    def __init__(self, text, test):
        self.test, self.text = test, text
        self.attempt = test["attempts"][-1] if test.get("attempts") else {}
        self.cause = (self.attempt.get("hang_causes") or [{}])[0]
        self.lines = report_lines(text)
        self.headline = self.lines[:HEADLINE_LINES]

    def verdict(self):
        return self.test.get("verdict", "")

    def kind(self):
        """Returns the kind that the summary says, else the first line's title, else what the headline's words say."""
        if self.cause:
            return self.cause["kind"]
        first, text = "".join(self.headline[:1]).strip(), "\n".join(self.headline)
        titled = (kind for kind, title, _ in KINDS if re.match(rf"{title}( \(\w+\))?: ", first))
        return next(titled, next((kind for kind, _, words in KINDS if re.search(words, text)), "unknown"))

    def culprits(self):
        if self.cause:
            return self.cause["ranks"]
        return self.attempt["culprits"] if self.attempt else named_last(self.headline)

    def names_culprits(self):
        """Returns whether the headline names the culprits that the summary has."""
        named = sum((ranks_in(phrase) for phrase in RANKS.findall("\n".join(self.headline))), [])
        return set(self.culprits()) <= set(named)

    def is_proven(self):
        return self.verdict() == "deadlock" or "(proven)" in "".join(self.headline[:1])


def read_summary(folder):
    """Returns the test of a summary.json; {} if there is none."""
    try:
        return json.loads((folder / "summary.json").read_text())["tests"][0]
    except (OSError, ValueError, LookupError):
        return {}


def report_lines(text):
    """Returns the lines of the failure, or of the snapshot of a passing run, without title, circumstances, blanks."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"[a-z-]+: [\w.]+$", line)]
    starts = starts or [i for i, line in enumerate(lines) if re.match(r"\S+ after [\d.]+ m?s, stacks taken", line)]
    told = lines[starts[0] + 1:] if starts else lines
    end = next((i for i, line in enumerate(told) if re.match(r"\s*(again|report): ", line)), len(told))
    return [line for line in told[:end] if line.strip() and not re.search(r", world size \d+, ", line)]


def ranks_in(phrase):
    """Returns the ranks of "0, 2-3"."""
    ranks = []
    for part in re.split(", | and ", phrase):
        low, _, high = part.partition("-")
        ranks += range(int(low), int(high or low) + 1)
    return ranks


def named_last(lines):
    """Returns the ranks that the first line calls a cycle, else those to look at, else the last of the first line."""
    look = [line for line in lines if line.startswith("look at ")]
    for line in (lines if not look or "each other" in lines[0] else look):
        named = [ranks_in(phrase) for phrase in RANKS.findall(line)]
        if named:
            return sorted(set(sum(named, []))) if "each other" in line else named[-1]
    return []


def noise(said, places):
    """Returns how many lines precede the first one that shows the line to blame."""
    place = re.compile(r"(?<![\w/])(" + "|".join(map(re.escape, places)) + r")(?!\d)")
    return next((number for number, line in enumerate(said.lines) if place.search(line)), NEVER)


def word(good):
    return "right" if good else "wrong"


def judge_hang(row, said, marked):
    """Returns the verdicts on a report about a hang, by column of results.tsv."""
    places = [place for marker in row.markers for place in marked[marker]]
    detailed = not row.detail or re.search(DETAILS[row.detail], "\n".join(said.headline))
    outside = row.detail == "child" and said.cause and not said.culprits()
    found = outside or (row.is_culprit(said.culprits()) and said.names_culprits())
    lines = noise(said, places) if places else 0
    return {
        "culprit": word(detailed and found),
        "cause": word(said.kind() in row.causes),
        "line": "-" if not places else word(lines < HEADLINE_LINES),
        "proof": "-" if row.proof == "any" else word(said.is_proven() == (row.proof == "yes")),
        "noise": "never" if lines == NEVER else str(lines),
    }


def judge_alike(row, said):
    """Returns the verdicts on a report about a run that only looks like a hang, and the false alarms."""
    text = re.sub(re.escape(row.test), "", said.text)
    headline = "\n".join([said.test.get("message", ""), *said.headline])
    alarms = [kind for kind, words in ALARMS.items()
              if kind not in row.causes and re.search(words, headline if kind in row.may else text)]
    if said.cause and said.cause["kind"] not in (row.causes or ["slow", "unknown"]):
        alarms.append(said.cause["kind"])
    return {
        "culprit": "-" if row.verdict == "-" else word(said.verdict() == row.verdict),
        "cause": word(not alarms),
        "line": "-",
        "proof": word(said.verdict() != "deadlock" and "(proven)" not in said.text),
        "noise": "0",
    }, alarms

"""The zoo's tables: hangs.txt, alike.txt, and the lines of the sources that are to blame."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
MARKER = re.compile(r"// culprit: (\w+)$")


class Row:
    """A specimen: how it is run, and what is expected of it."""

    def __init__(self, table, how, subject, options, words):
        self.table, self.how, self.subject = table, how, subject  # "hangs", "plugin", "zoo_plain"
        self.options = options
        self.smoke = words[0] == "+"
        words = words[self.smoke:]
        self.id, self.ranks = words[0], int(words[1])
        self.test = self.id.split("@")[0]
        self.name = {"plugin": "", "program": "exec.", "pid": "pid."}[how] + self.id
        if table == "hangs":
            self._read_hang(words[2:])
        else:
            self._read_alike(words[2:])

    def _read_hang(self, words):
        ranks = re.split("[|,]", words[0])
        self.may_be = {int(rank.rstrip("?")) for rank in ranks}
        self.must_be = set() if "|" in words[0] else {int(rank) for rank in ranks if not rank.endswith("?")}
        self.causes = words[1].split("|")
        self.markers = [] if words[2] == "-" else words[2].split("|")
        self.proof, self.detail = words[3], words[4] if len(words) > 4 else ""

    def _read_alike(self, words):
        self.verdict = words[0]
        self.causes = [] if words[1] == "-" else words[1].split("|")
        self.may = words[2].split("|")

    def is_culprit(self, ranks):
        """Returns whether these ranks, and no others, are to blame."""
        return bool(ranks) and self.must_be <= set(ranks) <= self.may_be


def read(table):
    """Returns the rows of "hangs" or "alike"."""
    rows, section = [], ()
    for line in (HERE / f"{table}.txt").read_text().splitlines():
        words = line.split()
        if not words or words[0] == "#":
            continue
        if words[0] in ("plugin", "program", "pid"):
            section = words[0], words[1], words[2:]
        else:
            rows.append(Row(table, *section, words))
    return rows


def places():
    """Returns the places of each marker: {"ring": ["meetings.cpp:92"]}."""
    found = {}
    for source in sorted(HERE.glob("*.[ch]pp")):
        for number, line in enumerate(source.read_text().splitlines(), 1):
            marker = MARKER.search(line)
            if marker:
                found.setdefault(marker[1], []).append(f"{source.name}:{number}")
    return found


def check(rows, marked):
    """Returns what is wrong with the tables."""
    used = {marker for row in rows if row.table == "hangs" for marker in row.markers}
    wrong = [f"{marker}: no line is marked so" for marker in sorted(used - set(marked))]
    wrong += [f"{marker}: no row names this marker" for marker in sorted(set(marked) - used)]
    names = [row.name for row in rows]
    return wrong + [f"{name}: two rows" for name in sorted({name for name in names if names.count(name) > 1})]

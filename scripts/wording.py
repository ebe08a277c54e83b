"""Odd wording in comments, pages, messages and names of tests, for scripts/tidy: phrases that leave the subject of a
sentence unnamed, or that have to be read twice. A few are unavoidable: the limits are rates."""
import re

COMMENTS_MAX = 12  # hits per 1000 lines of comments
TEXT_MAX = 0.5     # hits per 1000 words of pages and of literals with a blank

# The phrase, and what to write instead.
ODD = (
    (r"who(?:m|ever|mever)?|whose(?! (?:fault|turn)\b)", "name the rank, worker, thread, caller or user"),
    (r"(?:no|some|every)body(?:['’]s)?", "name the rank, worker, thread, caller or user"),
    (r"whatever", "say what: any value, all cases"),
    (r"(?:is|are|was|were) (?:none|nothing)(?= (?:of|that|to)\b|[.,;:])", "say what it is instead"),
    (r"l[ea]ts? go of", "release, close or destroy"),
    (r"(?:is|are|was|were|be|been) told", "is notified, is reported, or who reports it"),
    (r"tell(?:s|ing)? of", "report"),
    (r"as ever|so often|of no use|for want of|anew", "as usual, N times, unusable, for lack of, again"),
    (r"comes? to (?:nothing|naught)", "fails"),
    (r"gets? on(?! (?:with|the)\b)", "makes progress"),
    (r"goes along", "is sent with"),
    (r"of (?:theirs|ours|its|his)(?=[.,;:])", "name the owner"),
    (r"none of them", "no such thing, or name them"),
    (r"so (?:many|much)(?! (?:as|that)\b)", "N, that many"),
)
PHRASES = re.compile("|".join(rf"(?P<p{n}>\b(?:{phrase})\b)" for n, (phrase, _) in enumerate(ODD)), re.I)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"(?:^|\s)//+ ?(.*)")


class Count:
    """Hits in one kind of text, and how much text there is."""

    def __init__(self):
        self.hits, self.amount = [], 0

    def add(self, path, number, text, amount):
        self.amount += amount
        for match in PHRASES.finditer(text):
            self.hits.append((path, number, match[0], ODD[int(match.lastgroup[1:])][1]))

    def beyond(self, limit):
        """The hits, if there are more than `limit` in 1000; else none."""
        return self.hits if 1000 * len(self.hits) > limit * max(self.amount, 1) else []


def counted(tree):
    """The counts of comments and of text; a page's samples and tables of names are left out."""
    comments, text = Count(), Count()
    for file in tree:
        if file.as_it_is or not (file.is_cpp or file.path.endswith(".md")):
            continue
        in_sample = False
        for number, line in enumerate(file.lines, 1):
            if not file.is_cpp:
                in_sample ^= line.startswith("```")
                if not in_sample:
                    text.add(file.path, number, line, len(line.split()))
                continue
            comment = COMMENT.search(LITERAL.sub('""', line))
            if comment:
                comments.add(file.path, number, comment[1], 1)
            for literal in LITERAL.findall(line):
                if " " in literal.strip() and not line.lstrip().startswith("//"):
                    text.add(file.path, number, literal, len(literal.split()))
    return comments, text


def findings(tree):
    comments, text = counted(tree)
    for count, limit, of in ((comments, COMMENTS_MAX, "comment lines"), (text, TEXT_MAX, "words")):
        rate = 1000 * len(count.hits) / max(count.amount, 1)
        for path, number, phrase, instead in count.beyond(limit):
            yield path, number, f'"{phrase}": {instead} ({rate:.1f} such in 1000 {of}; {limit} are the limit)'

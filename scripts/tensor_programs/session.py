"""One program of tensors run line by line on both sides, and what differs.

torch goes on with our numbers: after each line that came to the same but for the last bits, our values are put into
torch's tensors. So an operator is compared for the same operands however long the program is, and whatever jumps
(comparisons, the largest of a window) jumps on both sides."""
import collections
import contextlib

import torch

from .accepted import accepted
from .operators import TABLE
from .sides import Difference, TorchSide, is_ordinary, magnitude
from .texts import operator_of, read_shown, shown

ROUNDING = {torch.float32: 2.0 ** -23, torch.float64: 2.0 ** -52}
# Of the largest gradient that a pass has brought anywhere: formulas multiply, and add up in other orders.
GRADIENT_ROUNDINGS = 500
# What stands before lines of an answer that are differences by themselves.
MARKS = {"!! ": "a foreign error", "gpu ": "another result on the GPU", "order ": "a report of stream order"}


class CannotGoOn(Exception):
    """One side has changed a tensor and the other has not, which is meant to be so."""


class Session:
    """Runs lines on both sides. Counts what it compares."""

    def __init__(self, our_side):
        self.ours, self.torch = our_side, TorchSide()
        self.keeps_copies = False
        self.steps = 0
        self.refusals = 0  # by both
        self.accepted = collections.Counter()

    def operators(self):
        return self.ours.ask("operators")

    def begin(self):
        self.torch.begin()
        self.ours.ask("begin")

    def run(self, line):
        """{name: value} of what the line made on torch's side; {} if it made nothing. Throws Difference."""
        ours = self.ours.ask(line)
        self.steps += 1
        try:
            made, refusal = self.torch.run(line), None
        except TorchSide.REFUSALS as error:
            made, refusal = {}, f"{type(error).__name__}: {error}".splitlines()[0]
        try:
            return self.compare(line, ours, made, refusal)
        except Difference as difference:
            self.go_on(difference, made)
            return {}

    def run_all(self, lines):
        """The first difference, or None."""
        try:
            self.begin()
            for line in lines:
                self.run(line)
        except Difference as difference:
            return difference
        except CannotGoOn:
            pass
        return None

    # ---- differences that are none

    def go_on(self, difference, made):
        """If the difference is meant; else it is thrown."""
        texts = " ".join(difference.ours + difference.torchs)
        if difference.kind in ("another gradient", "other values") and self.is_nearer(difference):
            raise CannotGoOn()
        if "modified by an inplace operation" in texts:
            self.compare_with_copies(difference)
        entry = accepted(difference.operator, difference.kind, texts)
        if entry is None:
            raise difference
        self.accepted[entry.reason] += 1
        if difference.operator.endswith("_") or difference.operator in ("backward", "show"):
            raise CannotGoOn()
        for name in made:
            del self.torch.names[name]

    def is_nearer(self, difference):
        """Whether ours is as near as torch's to what torch comes to in float64."""
        lines = [line.replace("float32", "float64") for line in self.torch.lines]
        if lines == self.torch.lines:
            return False
        exact = TorchSide()
        torch.set_default_dtype(torch.float64)
        try:
            for line in lines:
                with contextlib.suppress(*TorchSide.REFUSALS):
                    made = exact.run(line)
        finally:
            torch.set_default_dtype(torch.float32)
        (name, _, ours), (_, _, torchs) = difference.ours[0].partition(" "), difference.torchs[0].partition(" ")
        ours, torchs, wanted = read_shown(ours), read_shown(torchs), shown(made.get(name))
        if isinstance(wanted, str) or wanted.sizes != ours.sizes:
            return False
        return distance(ours.values, wanted.values) <= distance(torchs.values, wanted.values)

    def compare_with_copies(self, difference):
        """One side refuses because what a formula kept was changed. Ours keeps less, and copies more; that it does not
        refuse is right if torch comes to the same when each formula has copies of its own."""
        if self.keeps_copies:
            raise difference
        if difference.kind == "ours refuses":
            if self.torch.is_laid_out_anew:  # torch has changed another tensor than it kept
                raise CannotGoOn()
            return
        lines, self.keeps_copies = self.torch.lines, True
        try:
            self.begin()
            with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept.detach().clone(), lambda kept: kept):
                for line in lines:
                    self.run(line)
        finally:
            self.keeps_copies = False

    # ---- comparing

    def compare(self, line, ours, made, refusal):
        for text in ours:
            for mark, kind in MARKS.items():
                if text.startswith(mark):
                    raise Difference(kind, line, ours, [])
        is_refused = bool(ours) and ours[0].startswith("! ")
        if is_refused and refusal is not None:
            self.refusals += 1
            return {}
        if is_refused:
            raise Difference("ours refuses", line, ours, texts_of(made))
        if refusal is not None:
            raise Difference("torch refuses", line, ours, [refusal])
        for name, text in matching(line, ours, made):
            self.compare_value(line, name, read_shown(text), made[name])
        return made

    def compare_value(self, line, name, ours, value):
        operator = operator_of(line)
        try:
            torchs = shown(value)
        except TorchSide.REFUSALS:  # what it has made of a sparse tensor is none
            raise CannotGoOn() from None

        def check(is_same, kind):
            if not is_same:
                raise Difference(kind, line, [f"{name} {ours}"], [f"{name} {torchs}"])

        if isinstance(ours, str) or isinstance(torchs, str):
            check(is_same_number(ours, torchs), "another number")
            return
        for kind in ("dtype", "sizes", "needs_gradient"):
            check(getattr(ours, kind) == getattr(torchs, kind), "another " + kind)
        check(ours.has_layout_of(torchs), "another layout")
        if operator == "coalesce":
            check(ours.layout.split("/")[2:] == torchs.layout.split("/")[2:], "another number of entries")
        if are_same(ours.values, torchs.values).all():
            return
        if operator not in TABLE or TABLE[operator].has_values:
            check(self.are_close(operator, ours.values, torchs.values), self.kind_of_values(operator))
        if operator in TABLE and not value.is_sparse:
            value.data.copy_(ours.values)

    def kind_of_values(self, operator):
        if operator == "show":
            return "another value later"
        if operator == "backward":
            return "another gradient"
        memory = [value.storage().data_ptr() for value in self.torch.operands
                  if isinstance(value, torch.Tensor) and not value.is_sparse]
        return "other values" if len(set(memory)) == len(memory) else "other values of operands that overlap"

    def are_close(self, operator, ours, torchs):
        if not ours.is_floating_point():
            return False
        same = are_same(ours, torchs)
        if self.is_free(operator):
            same |= ~(ours.isfinite() & torchs.isfinite())
        return bool((same | ((ours.double() - torchs.double()).abs() <= self.tolerance(operator, torchs))).all())

    def is_free(self, operator):
        """Whether what is no finite number may come out elsewhere."""
        if operator == "backward":
            return self.torch.has_odd_numbers or not is_ordinary(list(self.torch.names.values()))
        return operator in TABLE and TABLE[operator].is_free and not is_ordinary(self.torch.operands)

    def tolerance(self, operator, result):
        """A number, or one for each element."""
        if operator == "backward":
            rounding = max(ROUNDING[value.dtype] for value in self.torch.names.values()
                           if isinstance(value, torch.Tensor) and value.is_floating_point())
            return GRADIENT_ROUNDINGS * rounding * max(self.torch.largest_gradient, magnitude(result))
        rounding = ROUNDING[result.dtype]
        if operator not in TABLE:  # sparse ones are told again, and have their own last bits
            return 8 * rounding * magnitude(result)
        entry = TABLE[operator]
        for operand in self.torch.operands:
            if isinstance(operand, torch.Tensor) and operand.is_sparse:  # entries are added up, before or after
                entry = entry._replace(terms=max(entry.terms, 16), degree=2)
                rounding = ROUNDING[torch.float32]  # of which they may be made
        scale = max(1.0, magnitude(self.torch.operands)) ** entry.degree
        return rounding * (entry.ulps * result.abs().double() + entry.terms * scale)


def texts_of(made):
    return [f"{name} {shown(value)}" for name, value in made.items()]


def matching(line, ours, made):
    """(name, our text) of what is to be compared."""
    answers = dict(text.partition(" ")[::2] for text in ours)
    if operator_of(line) == "show":  # what was accepted as different has no name there
        return [(name, answers[name]) for name in made if name in answers]
    if set(answers) != set(made):
        raise Difference("other results", line, ours, texts_of(made))
    return list(answers.items())


def are_same(a, b):
    """Elementwise; not a number is like another."""
    return (a == b) | (a.isnan() & b.isnan())


def is_same_number(ours, torchs):
    """Of what shown() tells of numbers."""
    if not (isinstance(ours, str) and isinstance(torchs, str)):
        return False
    if not (ours.startswith("float ") and torchs.startswith("float ")):
        return ours == torchs
    a, b = (float(text.partition(" ")[2]) for text in (ours, torchs))
    return a == b or (a != a and b != b)


def distance(a, b):
    return float((a.double().flatten() - b.double().flatten()).abs().max())

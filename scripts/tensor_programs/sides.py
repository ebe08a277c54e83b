"""Those who run lines: the process of ours, and torch."""
import os
import select
import subprocess

import torch

from .operators import TABLE
from .texts import operator_of, read_list, read_values

ANSWER_SECONDS_MAX = 60
# What is beyond them, or a product of two, may be no number of float32.
LARGE, SMALL = 1e18, 1e-18


class Difference(Exception):
    """What one line came to on both sides, as texts. `kind` is a few words that name the sort of it."""

    def __init__(self, kind, line, ours, torchs):
        super().__init__(kind)
        self.kind, self.line, self.ours, self.torchs = kind, line, ours, torchs
        self.operator = operator_of(line)


class OurSide:
    """The process of ours, and another one when it has ended."""

    def __init__(self, program, device):
        self.command = [program] + (["virtual"] if device == "virtual" else [])
        self.process = None

    def ask(self, line):
        """The lines of its answer, without the point."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        try:
            self.process.stdin.write(line.encode() + b"\n")
            answer = self.read_answer()
        except (BrokenPipeError, EOFError):
            self.process.kill()
            status, self.process = self.process.wait(), None
            raise Difference("our process ends", line, [f"status {status}"], []) from None
        return answer.decode().splitlines()[:-1]

    def read_answer(self):
        pipe, answer = self.process.stdout.fileno(), b""
        while answer != b".\n" and not answer.endswith(b"\n.\n"):
            if not select.select([pipe], [], [], ANSWER_SECONDS_MAX)[0]:
                raise EOFError
            piece = os.read(pipe, 1 << 16)
            if not piece:
                raise EOFError
            answer += piece
        return answer

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


class TorchSide:
    # What torch throws at those who ask for what it has not.
    REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, KeyError)

    def __init__(self):
        self.begin()

    def begin(self):
        self.names, self.leaves, self.lines = {}, [], []
        self.operands = []  # of the last operator
        self.is_recording = True
        self.is_laid_out_anew = False  # a result, so that it is another tensor than what formulas keep
        self.unrecorded = set()  # memory of views that were made without recording
        self.largest_gradient = 1.0
        self.has_odd_numbers = False  # operators have seen some that are not ordinary

    def run(self, line):
        """{name: value} of what the line made."""
        words = line.split()
        self.lines.append(line)
        torch.set_grad_enabled(self.is_recording or words[0] == "backward")
        if len(words) > 2 and words[1] == "=":
            return self.step(words)
        if words[0] == "show":
            return {name: value for name, value in self.names.items() if isinstance(value, torch.Tensor)}
        if words[0] == "backward":
            return self.backward(words[1:])
        if words[0] == "recording":
            self.is_recording = words[1] == "on"
        else:
            self.begin()
        return {}

    def step(self, words):
        if words[2] == "input":
            result = self.input(*words[3:8], words[8:])
            if words[7] == "leaf":
                self.leaves.append(words[0])
        else:
            result = self.call(words[2], [self.value(word) for word in words[3:]])
        made = {words[0]: result}
        if isinstance(result, list):
            made = {f"{words[0]}.{place}": piece for place, piece in enumerate(result)}
        self.names.update(made)
        for value in made.values():
            if isinstance(value, torch.Tensor) and value.requires_grad:
                value.register_hook(self.see_gradient)
        return made

    @staticmethod
    def input(dtype, sizes, strides, offset, leaf, words):
        block = read_values(dtype, words)
        tensor = torch.empty(0, dtype=block.dtype)
        tensor.set_(block.storage(), int(offset), read_list(sizes), read_list(strides))
        return tensor.requires_grad_() if leaf == "leaf" else tensor

    def value(self, word):
        if word[0] == '"':
            return word[1:-1]
        if word[0] == "[":
            return read_list(word)
        if word[0] == "(":
            return [self.names[name] for name in word[1:-1].split(",")]
        if word in self.names:
            return self.names[word]
        constants = {"none": None, "true": True, "false": False}
        if word in constants:
            return constants[word]
        return int(word) if word.lstrip("-").isdigit() else float(word)

    def call(self, name, arguments):
        operator = TABLE[name]
        self.operands = arguments
        self.has_odd_numbers = self.has_odd_numbers or not is_ordinary(arguments)
        for value in arguments:
            getattr(value, "grad_fn", None)  # before it is asked, a view may not know what its base has become
        if operator.wants_contiguous:
            arguments = [self.contiguous(each) if isinstance(each, torch.Tensor) else each for each in arguments]
        result = operator.call(*arguments)
        if isinstance(result, torch.Tensor) and any(result is each for each in arguments):
            return result
        if operator.is_view:
            return result if self.is_recording else self.without_graph(result)
        return self.contiguous(result) if isinstance(result, torch.Tensor) else result

    def contiguous(self, tensor):
        """As all results of ours are."""
        if tensor.is_sparse or tensor.is_contiguous():
            return tensor
        self.is_laid_out_anew = True
        return tensor.contiguous()

    def without_graph(self, view):
        """Made without recording it needs no gradient; torch says that it does, and loses it."""
        if isinstance(view, list):
            return [self.without_graph(each) for each in view]
        if not view.is_sparse:
            self.unrecorded.add(view.storage().data_ptr())
        return view.detach()

    def backward(self, words):
        roots = [(self.names[word.partition(":")[0]], int(word.partition(":")[2])) for word in words]
        torch.autograd.backward([root for root, _ in roots], [weights_of(*root) for root in roots])
        return {name: self.names[name].grad for name in self.leaves}

    def see_gradient(self, gradient):
        if gradient is not None:
            self.largest_gradient = max(self.largest_gradient, magnitude(gradient))


def weights_of(root, salt):
    """As run_tensor_program makes them."""
    numbers = (5 * torch.arange(root.numel()) + salt) % 11 - 5
    return (numbers / 4).to(root.dtype).reshape(root.shape)


def magnitude(value):
    """The largest finite number in it."""
    if isinstance(value, torch.Tensor):
        numbers = elements(value).to(torch.float64).abs()
        numbers = numbers[torch.isfinite(numbers)]
        return float(numbers.max()) if numbers.numel() else 0.0
    if isinstance(value, (list, tuple)):
        return max((magnitude(each) for each in value), default=0.0)
    if isinstance(value, (int, float)) and abs(value) < float("inf"):
        return abs(float(value))
    return 0.0


def is_ordinary(value):
    """All numbers in it, so that products of two are finite, and exact but for their last bits."""
    if isinstance(value, (list, tuple)):
        return all(is_ordinary(each) for each in value)
    if isinstance(value, float):
        return value == 0 or SMALL < abs(value) < LARGE
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return True
    sizes = elements(value).abs()
    return bool(((sizes == 0) | ((sizes > SMALL) & (sizes < LARGE))).all())


def elements(tensor):
    """Those that are stored, out of any graph."""
    return tensor.detach()._values() if tensor.is_sparse else tensor.detach()

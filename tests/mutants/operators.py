"""Small faults that a programmer might make: every one changes a few characters of one source file.

    comparisons    < with <=, > with >=, == with !=, `in` with `not in`, `is` with `is not`
    arithmetic     + with -, * with /, // with /, ** with *, & with |; a sign, a `not` or a ~ left out
    logic          `and` with `or`; the two sides of `a if c else b`
    numbers        a whole number plus one; a fraction doubled, or plus one where it is tiny; True with False
    calls          an abs left out, `sorted` with `list`; min with max, floor with ceil, any with all, sum with mean;
                   two arguments swapped
    statements     `x += 1` or a call on a line of its own left out; `break` with `continue`

Left alone are strings, annotations, decorators, messages of errors, and the defaults of parameters and fields (these
are settings; the generated docs and the contract tests hold them).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
ARITHMETIC: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Div(),
    ast.Mod: ast.FloorDiv(),
    ast.Pow: ast.Mult(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
}
_PAIRS = ["min max", "minimum maximum", "amin amax", "floor ceil", "any all", "sum mean", "argmin argmax"]
CALLS = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])}
SYMMETRIC = {*CALLS, "isinstance", "cast"}  # the order of their arguments says nothing, or is no number's business


@dataclass(frozen=True)
class Mutant:
    """One fault: the place in the source (in bytes), what stands there instead, and the lines of its statement."""

    path: str
    line: int
    statement: range
    start: int
    end: int
    instead: str

    def source(self, original: str) -> str:
        data = original.encode()
        return (data[: self.start] + self.instead.encode() + data[self.end :]).decode()

    def diff(self, original: str) -> tuple[str, str]:
        """The line that changes, before and after (a change of several lines is shown by its first)."""
        after = self.source(original).splitlines()
        return original.splitlines()[self.line - 1].strip(), after[self.line - 1].strip()

    def name(self, original: str) -> str:
        """What is changed, wherever in the file it stands."""
        return f"{self.path} {' '.join(self.diff(original))} {self.end - self.start}"

    def key(self, original: str) -> str:
        """The same as long as the file is the same."""
        return blake2b(f"{self.path}\n{self.source(original)}".encode(), digest_size=10).hexdigest()


def mutants(path: str, source: str) -> list[Mutant]:
    """All faults that can be planted into this file, from its first line to its last."""
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines))]
    found = {}
    for node, instead, statement in _faults(ast.parse(source), range(1, 1)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        mutant = Mutant(path, node.lineno, statement, start, end, instead)
        found[mutant.source(source)] = mutant
    found.pop(source, None)
    return sorted((m for s, m in found.items() if _compiles(s)), key=lambda m: (m.start, m.end, m.instead))


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _faults(node: ast.AST, statement: range) -> Iterator[tuple[ast.expr | ast.stmt, str, range]]:
    """A node, what stands in its place, and the lines of its statement: for this node and all below it."""
    if isinstance(node, ast.stmt):
        statement = _lines(node)
    if isinstance(node, ast.expr | ast.stmt):
        yield from ((node, instead, statement) for instead in _instead(node))
    for child in _code(node):
        yield from _faults(child, statement)


def _lines(node: ast.stmt) -> range:
    """The lines of a statement; of one with a body, those of its head."""
    body = getattr(node, "body", None)
    return range(node.lineno, max(node.lineno + 1, body[0].lineno) if body else (node.end_lineno or node.lineno) + 1)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The children that compute something."""
    match node:
        case ast.Raise() | ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return
        case ast.FunctionDef() | ast.Lambda():
            yield from node.body if isinstance(node.body, list) else [node.body]
        case ast.ClassDef():
            yield from (part for part in node.body if not isinstance(part, ast.AnnAssign))
        case ast.AnnAssign():
            yield from [node.value] if node.value else []
        case ast.keyword(arg="strict"):  # of zip: a guard of the code itself, like an assert
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _instead(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield f"{_text(left)} {COMPARISONS[type(op)]} {_text(right)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield f"({ast.unparse(ast.BinOp(left, ARITHMETIC[type(op)], right))})"
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _text(operand)
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield f"({ast.unparse(ast.IfExp(test, orelse, body))})"
        case ast.Constant(value=value) if isinstance(value, bool | int | float):
            yield _number(value)
        case ast.Call():
            yield from _call(node)
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Break():
            yield "continue"
        case ast.Continue():
            yield "break"


def _number(value: float) -> str:
    if isinstance(value, bool):
        return repr(not value)
    return repr(value + 1 if isinstance(value, int) or abs(value) < 0.01 else value * 2)


def _call(node: ast.Call) -> Iterator[str]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("abs", "sorted") and len(node.args) == 1:
        yield _text(node.args[0]) if name == "abs" else f"list({ast.unparse(node.args[0])})"
    if name in CALLS:
        func = (
            ast.Attribute(node.func.value, CALLS[name])
            if isinstance(node.func, ast.Attribute)
            else ast.Name(CALLS[name])
        )
        yield ast.unparse(ast.Call(func, node.args, node.keywords))
    if len(node.args) == 2 and not (name in SYMMETRIC or any(isinstance(arg, ast.Starred) for arg in node.args)):
        yield ast.unparse(ast.Call(node.func, node.args[::-1], node.keywords))


def _text(node: ast.expr) -> str:
    """As source, in brackets where it is more than a name, a number or a call."""
    plain = ast.unparse(node)
    return (
        plain if isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript) else f"({plain})"
    )

"""Finds where sources write into modules that are not theirs, by reading them: nothing is imported, nothing is run."""

import ast
import builtins
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping

from dflash_env.collect.changes import shown
from dflash_env.facts import Patch

CONFIGURATION = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.")
"""Below these, a value is a setting; a function put there is a patch like any other."""
REPLACERS = ("unittest.mock.patch", "mock.patch")
WRITERS = ("builtins.setattr", "builtins.delattr", "builtins.object.__setattr__", "builtins.type.__setattr__")
FUNCTION = "def"
"""What a name of a function of the file's own is bound to; no module is called that."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def scan(sources: Mapping[bytes, bytes], own: str) -> tuple[Patch, ...]:
    """The patches in the contents of Python files; `own` is the package that they are."""
    return tuple(
        Patch(path=shown(path), line=line, what=what)
        for path, content in sorted(sources.items())
        for line, what in sorted(set(_patches(content, own)))
    )


def _patches(content: bytes, own: str) -> Iterator[tuple[int, str]]:
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        return iter([(getattr(error, "lineno", None) or 1, f"cannot be read for patches: {error}")])
    scan = _Scan(own)
    scan.visit(tree)
    while scan.later:
        function, scopes = scan.later.pop(0)
        scan.enter(function, scopes)
    return iter(scan.found)


class _Scan(ast.NodeVisitor):
    """Follows names to the modules they stand for, scope by scope, as far as a reader can without running anything."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.scopes: list[dict[str, str]] = [{}]
        self.found: list[tuple[int, str]] = []
        self.settings: set[ast.expr] = set()
        self.later: list[tuple[Function, list[dict[str, str]]]] = []

    # ---- names ------------------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.scopes[-1][alias.asname or name] = name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            whole = f"{self.own}.{node.module}" if node.level else f"{node.module}"
            self.scopes[-1][alias.asname or alias.name] = f"{whole}.{alias.name}"

    def _called(self, node: ast.expr) -> str:
        """The dotted name that an expression stands for; empty where that is not plain to see."""
        if isinstance(node, ast.Name):
            known = next((scope[node.id] for scope in reversed(self.scopes) if node.id in scope), None)
            return _builtin(node.id) if known is None else known
        if isinstance(node, ast.Attribute):
            inside = self._called(node.value)
            return f"{inside}.{node.attr}" if inside else ""
        if isinstance(node, ast.Call):
            return self._of_call(node)
        if isinstance(node, ast.Subscript) and self._called(node.value) == "sys.modules":
            return _text(node.slice)
        return ""

    def _of_call(self, node: ast.Call) -> str:
        called, given = self._called(node.func), node.args
        if called in ("importlib.import_module", "builtins.__import__") and given:
            return _text(given[0])
        if called == "builtins.getattr" and len(given) > 1:
            inside, name = self._called(given[0]), _text(given[1])
            return f"{inside}.{name}" if inside and name else ""
        return f"{self._called(given[0])}.__dict__" if called == "builtins.vars" and given else ""

    def _is_foreign(self, name: str) -> bool:
        top = name.partition(".")[0]
        return top == "builtins" or top not in (self.own, FUNCTION, "", *sys.stdlib_module_names)

    # ---- scopes -----------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(each)
        self.scopes[-1][node.name] = FUNCTION
        self.later.append((node, self._seen_from_inside()))

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.later.append((node, self._seen_from_inside()))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        self.scopes[-1][node.name] = ""
        self.scopes.append({"__class__": ""})
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def _seen_from_inside(self) -> list[dict[str, str]]:
        return [scope for scope in self.scopes if "__class__" not in scope]

    def enter(self, function: Function, scopes: list[dict[str, str]]) -> None:
        """Read a function's body, after everything around it was read."""
        arguments = function.args
        extra = [each for each in (arguments.vararg, arguments.kwarg) if each]
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra)]
        body = [function.body] if isinstance(function, ast.Lambda) else function.body
        self.scopes = [*scopes, dict.fromkeys([*names, *_bound(body)], "")]
        for statement in body:
            self.visit(statement)

    # ---- writes -----------------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assigned(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned(node.target, node.value)
            self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._assigned(node.target, node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._assigned(node.target, node.value)
        self.generic_visit(node)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            if not isinstance(value, ast.Constant):  # `torch = None` where the import failed
                self.scopes[-1][target.id] = self._called(value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for one, part in zip(target.elts, parts if len(parts) == len(target.elts) else [], strict=False):
                self._assigned(one, part)
        elif isinstance(target, ast.Attribute) and self._is_setting(self._called(target), value):
            self.settings.add(target)

    def _is_setting(self, name: str, value: ast.expr) -> bool:
        is_function = isinstance(value, ast.Lambda) or self._called(value) == FUNCTION
        return name.startswith(CONFIGURATION) and not is_function

    def visit_Attribute(self, node: ast.Attribute) -> None:
        is_write = not isinstance(node.ctx, ast.Load) and node not in self.settings
        if is_write and self._is_foreign(self._called(node.value)):
            self._tell(node, f"sets {self._called(node)}")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            called = self._called(node.value)
            if called == "sys.modules" or (called.endswith(".__dict__") and self._is_foreign(called)):
                self._tell(node, f"sets an entry of {called}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = self._called(node.func)
        owner, _, method = called.rpartition(".")
        first = self._called(node.args[0]) if node.args else ""
        if called in WRITERS and self._is_foreign(first):
            name = f"{first}.{(_text(node.args[1]) if len(node.args) > 1 else '') or '…'}"
            if len(node.args) < 3 or not self._is_setting(name, node.args[2]):
                self._tell(node, f"sets {name}")
        elif called == "importlib.reload":
            self._tell(node, f"reloads {first or 'a module'}")
        elif any(called == each or called.startswith(f"{each}.") for each in REPLACERS):
            self._tell(node, f"uses {called}")
        elif method in ("update", "setdefault", "pop", "clear") and (
            owner == "sys.modules" or (owner.endswith(".__dict__") and self._is_foreign(owner))
        ):
            self._tell(node, f"changes {owner}")
        self.generic_visit(node)

    def _tell(self, node: ast.expr, what: str) -> None:
        self.found.append((node.lineno, what))


def _bound(body: Iterable[ast.AST]) -> set[str]:
    """The names that a function assigns itself, not those of the functions and classes inside it."""
    bound: set[str] = set()
    outside: set[str] = set()
    left = list(body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            outside.update(node.names)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                bound.add(node.id)
        elif not isinstance(node, Function | ast.ClassDef):
            left.extend(ast.iter_child_nodes(node))
    return bound - outside


def _builtin(name: str) -> str:
    if name == "__builtins__":
        return "builtins"
    return f"builtins.{name}" if hasattr(builtins, name) else ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

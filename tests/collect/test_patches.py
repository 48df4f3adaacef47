"""Patches of other people's modules are found by reading; settings and the trainer's own objects are left alone."""

from pathlib import Path

import pytest

from dflash_env.collect import patches

ROOT = Path(__file__).parent.parent.parent


def found(text: str) -> list[str]:
    """What is patched in a file of the trainer."""
    return [patch.what for patch in patches.scan({b"trainer/x.py": text.encode()}, "trainer")]


INCIDENT = "sets torch.fx._symbolic_trace.is_fx_symbolic_tracing"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import torch\ntorch.fx._symbolic_trace.is_fx_symbolic_tracing = lambda: False", INCIDENT),
        ("import torch.fx._symbolic_trace as st\nst.is_fx_symbolic_tracing = lambda: False", INCIDENT),
        ("from torch.fx import _symbolic_trace\n_symbolic_trace.is_fx_symbolic_tracing = lambda: False", INCIDENT),
        ("import torch\nst = torch.fx._symbolic_trace\nst.is_fx_symbolic_tracing = lambda: False", INCIDENT),
        ("import torch\nst = getattr(torch.fx, '_symbolic_trace')\nst.is_fx_symbolic_tracing = None", INCIDENT),
        ("import torch\nsetattr(torch.fx._symbolic_trace, 'is_fx_symbolic_tracing', None)", INCIDENT),
        ("import sys\nsys.modules['torch.fx._symbolic_trace'].is_fx_symbolic_tracing = None", INCIDENT),
        ("import importlib\nm = importlib.import_module('torch.fx')\nm.wrap = None", "sets torch.fx.wrap"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.compile = None", "sets torch.compile"),
        ("def f():\n    torch.compile = g\nimport torch", "sets torch.compile"),
        ("def f():\n    import torch as t\n    t.compile = g", "sets torch.compile"),
        ("class A:\n    def f(self):\n        torch.compile = self.g\nimport torch", "sets torch.compile"),
        ("import torch\nif (t := torch).cuda:\n    t.compile = None", "sets torch.compile"),
        ("import torch\n(torch.compile, x) = (1, 2)", "sets torch.compile"),
        ("import torch\nfor torch.compile in ():\n    pass", "sets torch.compile"),
        ("import torch\nwith open('x') as torch.compile:\n    pass", "sets torch.compile"),
        ("import torch\ntorch.compile: int = 1", "sets torch.compile"),
        ("import torch\ntorch.manual_seed += 1", "sets torch.manual_seed"),
        ("import torch\ndel torch.compile", "sets torch.compile"),
        ("import torch\ndelattr(torch, 'compile')", "sets torch.compile"),
        ("import torch\nput = setattr\nput(torch, name, 1)", "sets torch.…"),
        ("from torch import Tensor\nTensor.__repr__ = None", "sets torch.Tensor.__repr__"),
        ("import torch\ntorch.__dict__['compile'] = None", "sets an entry of torch.__dict__"),
        ("import torch\nvars(torch)['compile'] = None", "sets an entry of torch.__dict__"),
        ("import torch\nvars(torch).update(compile=None)", "changes torch.__dict__"),
        ("from unittest import mock\nwith mock.patch('torch.compile'):\n    pass", "uses unittest.mock.patch"),
        ("from unittest.mock import patch\n@patch.object(a, 'b')\ndef f(): pass", "uses unittest.mock.patch.object"),
        ("import sys\nsys.modules['torch'] = None", "sets an entry of sys.modules"),
        ("import sys\nloaded = sys.modules\ndel loaded['torch']", "sets an entry of sys.modules"),
        ("from sys import modules\nmodules.pop('torch')", "changes sys.modules"),
        ("import importlib, torch\nimportlib.reload(torch)", "reloads torch"),
        ("from importlib import reload\nreload(x)", "reloads a module"),
        ("import builtins\nbuiltins.print = None", "sets builtins.print"),
        ("__builtins__.print = None", "sets builtins.print"),
        ("import torch\ntorch.backends.cuda.is_built = lambda: True", "sets torch.backends.cuda.is_built"),
        ("import torch\ndef g(): pass\ntorch._dynamo.config.f = g", "sets torch._dynamo.config.f"),
        ("import torch\nsetattr(torch.backends.cuda, 'f', lambda: 1)", "sets torch.backends.cuda.f"),
        ("import torch\ntorch._inductor.config = None", "sets torch._inductor.config"),
    ],
)
def test_a_patch_is_found(text: str, what: str) -> None:
    assert found(text) == [what]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True",
        "import torch\ntorch._dynamo.config.recompile_limit += 8",
        "import torch._inductor.config as settings\nsettings.triton.cudagraphs = False",
        "import torch\nsetattr(torch._dynamo.config, name, 64)",
        "import torch\ntorch.backends.a, torch.backends.b = True, False",
    ],
)
def test_a_setting_is_no_patch(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = torch.zeros(1)\nx.grad = None\nx.data = x\nx.data[0] = 1",
        "import torch\nclass A(torch.nn.Module):\n    def f(self):\n        self.weight = torch.nn.Parameter(x)",
        "import torch\ndef f(torch):\n    torch.compile = 1",
        "from transformers import logging\ndef f():\n    logging = make()\n    logging.level = 1",
        "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained(x)\nt.pad_token = t.eos_token",
        "from trainer import loop\nloop.steps = 1\nfrom . import data\ndata.x = 1",
        "import trainer.loop as loop\nsetattr(loop, 'x', 1)",
        "import os, sys\nos.environ['A'] = '1'\nsys.stdout = x\nsys.excepthook = y",
        "for group in optimizer.param_groups:\n    group['lr'] = 1\n    group.lr = 1",
        "import torch\nm = torch.nn.Linear(1, 1)\nsetattr(m, 'bias', None)\nm.weight.requires_grad = False",
        "import sys\nprint(sys.modules['torch'], sys.modules.get('x'))",
        "from unittest.mock import patch",
        "dispatch = {}\ndispatch.update(a=1)\nvars(self).update(b=2)",
        "def f():\n    pass\nf.calls = 0",
    ],
)
def test_what_is_the_trainers_own_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_the_trainer_of_today_patches_nothing() -> None:
    sources = {bytes(path): path.read_bytes() for path in (ROOT / "trainer").rglob("*.py")}
    assert len(sources) > 20
    assert patches.scan(sources, "trainer") == ()


def test_a_patch_is_named_with_its_file_and_line() -> None:
    [patch] = patches.scan({b"trainer/x.py": b"import torch\n\ntorch.compile = None\n"}, "trainer")
    assert (patch.path, patch.line) == ("trainer/x.py", 3)


@pytest.mark.parametrize("content", [b"def", b"\0", b"# coding: nothing\n", b"x = '\\ud800'\n\xff"])
def test_what_cannot_be_read_is_never_clean(content: bytes) -> None:
    [patch] = patches.scan({b"trainer/x.py": content}, "trainer")
    assert "cannot be read for patches" in patch.what

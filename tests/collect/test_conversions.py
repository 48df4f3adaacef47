"""The conversions of a content on its way in: exactly git's, except that nothing is forgiven inside `$Id$`."""

import itertools

import pytest

from dflash_env.collect import conversions, git
from dflash_env.facts import Unknown
from tests.collect.conftest import Project

CONTENTS = [
    b"",
    b"one\ntwo\n",
    b"one\r\ntwo\r\n",
    b"one\r\ntwo\n",
    b"esc\\x61ped\n",
    b"lone\rreturn\r\n",
    b"nul\0byte\r\n",
    b"escape \x1b[1m\r\n",
    b"\x01\x02\x03\x04\r\n",
    b"end\r\n\x1a",
    "größe\r\n".encode("utf-16"),
    "größe\r\n".encode("latin-1"),
    b"$Id$ $Id: " + b"0" * 40 + b" $\r\n",
]
ATTRIBUTES = [
    "",
    "text",
    "-text",
    "text=auto",
    "text=nonsense",
    "eol=lf",
    "eol=crlf",
    "text=auto eol=crlf",
    "-text eol=crlf",
    "crlf",
    "-crlf",
    "crlf=input",
    "ident",
    "working-tree-encoding=UTF-16",
    "working-tree-encoding=latin-1 text ident",
    "working-tree-encoding=no-such-encoding",
    "working-tree-encoding=unicode_escape",
    "working-tree-encoding=UTF-16LE-BOM eol=crlf",
]


@pytest.mark.parametrize("autocrlf", ["", "true", "input", "false"])
@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_they_are_gits(project: Project, attributes: str, autocrlf: str) -> None:
    project.git("config", "core.safecrlf", "false")
    if autocrlf:
        project.git("config", "core.autocrlf", autocrlf)
    project.write(".gitattributes", f"*.py {attributes}\n")
    names = [f"trainer/new{number}.py" for number in range(len(CONTENTS))]
    for name, content in zip(names, CONTENTS, strict=True):
        project.write(name, content)
    theirs = project.git("hash-object", "--stdin-paths", data="\n".join(names).encode()).split()
    found = git.attributes(project.root, [name.encode() for name in names], conversions.NAMES)
    assert not isinstance(found, Unknown)
    setting = git.setting(project.root, "core.autocrlf")
    ours = [
        git.blob_id(conversions.cleaned(content, found[name.encode()], setting), 40)
        for name, content in zip(names, CONTENTS, strict=True)
    ]
    assert [*map(bool, itertools.starmap(str.__eq__, zip(ours, theirs, strict=True)))] == [True] * len(ours)


def test_code_inside_an_expanded_id_is_no_id() -> None:
    hidden = b'x = "$Id: ", launch(), "$"\n'
    assert conversions.cleaned(hidden, {"ident": "set"}, "") == hidden

"""What git's built-in conversions make of a file on its way in: line endings, encodings, `$Id$`. Nothing is run."""

import re
from collections.abc import Mapping

NAMES = ("text", "crlf", "eol", "ident", "working-tree-encoding")
EXPANDED = re.compile(rb"\$Id: [0-9a-f]{40,64} \$")
"""Only what git itself writes; it would forgive anything that stands between `$Id:` and `$`, code included."""

WORDS = {"unspecified": "", "unset": "no", "set": "text", "auto": "auto", "input": "text"}
ENCODINGS = re.compile(
    r"(utf-?(8|16|32)(le|be)?(-bom)?|iso-?8859-\d+|latin-?\d|windows-\d+|cp\d+|shift[-_]jis|euc-\w+|gb\w+|big5|koi8-\w|ascii)",
    re.IGNORECASE,
)
"""Python knows more, such as `unicode_escape`, which git has never heard of."""
MARKED = ("utf-16", "utf-32")
"""Where git wants a byte order mark."""
BOMS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
CONTROL = bytes(set(range(32)) - set(b"\b\t\n\f\r\x1b") | {127})


def cleaned(content: bytes, attributes: Mapping[str, str], autocrlf: str) -> bytes:
    """The content that git would commit for a file, by its attributes and `core.autocrlf`."""
    content = _decoded(content, attributes.get("working-tree-encoding", ""))
    endings = _endings(attributes, autocrlf)
    if endings == "text" or (endings == "auto" and not _is_binary(content)):
        content = content.replace(b"\r\n", b"\n")
    if attributes.get("ident") == "set":
        content = EXPANDED.sub(b"$Id$", content)
    return content


def _decoded(content: bytes, encoding: str) -> bytes:
    """UTF-8; what git cannot convert it takes as it is."""
    name = encoding.lower()
    if not ENCODINGS.fullmatch(name) or (name in MARKED and not content.startswith(BOMS)):
        return content
    try:
        text = content.decode(name.removesuffix("-bom"))
    except (LookupError, UnicodeError):
        return content
    return text.removeprefix("\ufeff" if name.endswith("-bom") else "").encode()


def _endings(attributes: Mapping[str, str], autocrlf: str) -> str:
    """`text`, `auto` or `no`; gitattributes(5)."""
    word = WORDS.get(attributes.get("text", ""), "") or WORDS.get(attributes.get("crlf", ""), "")
    if attributes.get("eol") in ("lf", "crlf") and word in ("", "text"):
        return "text"
    if word:
        return word
    return "auto" if autocrlf in ("true", "yes", "on", "1", "input") else "no"


def _is_binary(content: bytes) -> bool:
    """Git's own guess."""
    lone = content.count(b"\r") != content.count(b"\r\n")
    strange = len(content) - len(content.translate(None, CONTROL)) - content.endswith(b"\x1a")
    plain = len(content.translate(None, CONTROL + b"\r\n"))
    return lone or b"\0" in content or plain >> 7 < strange

"""A seeded generator of templated chat: sums, word problems, spelling and counting.

`python -m trainer.sample.chat COUNT SEED train|heldout` prints chat JSONL. A prompt belongs to one split for
ever, by its digest, so that no held-out prompt can be met in training whatever the seeds.
"""

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator

NAMES = "Ada Ben Cleo Dan Eva Finn Gus Hana Ian Jo Kim Leo Mia Nora Omar Pia Quinn Rosa Sam Tess"
THINGS = "apples books coins eggs figs grapes hats jars keys lamps nuts pens rings shells tickets"
WORDS = (
    "anchor basket candle dragon engine flower garden hammer island jungle kettle lemon market needle orange "
    "pencil quartz ribbon silver table uncle velvet window yellow zebra bridge castle desert eagle forest glacier "
    "harbor insect jacket kitten ladder mirror nature ocean planet rabbit saddle temple valley winter autumn "
    "bottle cotton donkey empire finger guitar honey iron jewel knight lantern meadow nickel oyster pepper river "
    "shadow timber village wagon butter copper dinner"
)

Turn = tuple[str, str]


def plus(a: int, b: int) -> str:
    """The steps of a sum, by tens and ones."""
    tens, ones = a // 10 * 10 + b // 10 * 10, a % 10 + b % 10
    return f"{a // 10 * 10} + {b // 10 * 10} = {tens} and {a % 10} + {b % 10} = {ones}"


def minus(a: int, b: int) -> str:
    """The steps of a difference, tens first."""
    return f"{a} - {b // 10 * 10} = {a - b // 10 * 10} and {a - b // 10 * 10} - {b % 10} = {a - b}"


def add(rng: random.Random) -> Turn:
    """A sum of two numbers below 100."""
    a, b = rng.randint(11, 99), rng.randint(11, 99)
    question = rng.choice([f"What is {a} + {b}?", f"Add {a} and {b}.", f"Please work out {a} plus {b}."])
    return question, f"{plus(a, b)}, so {a} + {b} = {a + b}."


def subtract(rng: random.Random) -> Turn:
    """A difference of two numbers below 100."""
    a = rng.randint(22, 99)
    b = rng.randint(11, a - 1)
    question = rng.choice([f"What is {a} - {b}?", f"Take {b} away from {a}.", f"Please work out {a} minus {b}."])
    return question, f"{minus(a, b)}, so {a} - {b} = {a - b}."


def gain(rng: random.Random) -> Turn:
    """A word problem in which somebody gets more."""
    name, thing, a, b = rng.choice(NAMES.split()), rng.choice(THINGS.split()), rng.randint(11, 69), rng.randint(11, 29)
    how, did = rng.choice([("buys", "bought"), ("finds", "found"), ("is given", "was given")])
    question = f"{name} has {a} {thing} and {how} {b} more. How many {thing} does {name} have now?"
    return question, f"{name} had {a} {thing} and {did} {b} more. {plus(a, b)}, so {name} has {a + b} {thing} now."


def loss(rng: random.Random) -> Turn:
    """A word problem in which somebody has fewer at the end."""
    name, thing, a = rng.choice(NAMES.split()), rng.choice(THINGS.split()), rng.randint(22, 69)
    b = rng.randint(11, a - 2)
    how, did = rng.choice([("sells", "sold"), ("loses", "lost"), ("gives away", "gave away")])
    question = f"{name} has {a} {thing} and {how} {b}. How many {thing} are left?"
    return question, f"{name} had {a} {thing} and {did} {b}. {minus(a, b)}, so {name} has {a - b} {thing} left."


def spell(rng: random.Random) -> Turn:
    """A word, letter by letter."""
    word = rng.choice(WORDS.split())
    question = rng.choice([f"Spell the word {word}.", f"How do you spell {word}?", f"Write {word} letter by letter."])
    return question, f"The word {word} is spelled {'-'.join(word)}. It has {len(word)} letters."


def capitals(rng: random.Random) -> Turn:
    """Three words put in capital letters."""
    words = rng.sample(WORDS.split(), 3)
    question = rng.choice([f"Put in capitals: {', '.join(words)}.", f"Capitalise {', '.join(words)}."])
    return question, f"In capitals: {', '.join(word.upper() for word in words)}."


def count(rng: random.Random) -> Turn:
    """Counting up by ones, twos, fives or tens."""
    start, step, steps = rng.randint(1, 40), rng.choice([1, 2, 5, 10]), rng.randint(4, 8)
    question = f"Count from {start} to {start + step * steps} in steps of {step}."
    return question, f"{', '.join(str(start + step * i) for i in range(steps + 1))}."


TOPICS: tuple[Callable[[random.Random], Turn], ...] = (add, subtract, gain, loss, spell, capitals, count)
SPLITS = ("train", "heldout")


def split_of(question: str) -> str:
    """The split a prompt belongs to: one in eight is held out, decided by its digest alone."""
    return SPLITS[hashlib.sha256(question.encode()).digest()[0] % 8 == 0]


def conversations(number: int, seed: int, split: str) -> Iterator[list[dict[str, str]]]:
    """Yield `number` conversations of the split as message lists; every sixth training one has two turns."""
    rng = random.Random(f"{seed}/{split}")

    def turn() -> Turn:
        while True:
            drawn = rng.choice(TOPICS)(rng)
            if split_of(drawn[0]) == split:
                return drawn

    for index in range(number):
        turns = [turn() for _ in range(2 if split == "train" and index % 6 == 5 else 1)]
        yield [
            {"role": role, "content": content}
            for pair in turns
            for role, content in zip(("user", "assistant"), pair, strict=True)
        ]


def lines(number: int, seed: int, split: str) -> Iterator[str]:
    """The same conversations as chat JSONL, one line each, without line ends."""
    for messages in conversations(number, seed, split):
        yield json.dumps({"messages": messages})


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]):
        print(line)

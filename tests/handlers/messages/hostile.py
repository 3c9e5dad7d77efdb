"""Every builder of messages × strings that somebody wrote to do harm: nobody called, nothing linked, no limit passed.

    python -m tests.handlers.messages.hostile --strings 1000000 --seed 1

Which builders there are is read from `handlers.messages` itself, and their arguments are made from their own type
hints, so a new builder is tried without a line here. What the emulator of Slack reads in the result decides.
"""

import argparse
import importlib
import inspect
import json
import pkgutil
import sys
import time
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import handlers.messages
from bot.workspace.blocks_check import problems_of_blocks, problems_of_view
from bot.workspace.mrkdwn import links, pings
from handlers.messages.blocks import Message, message
from handlers.messages.languages import speaking
from handlers.messages.phrase import Phrase, say
from tests.handlers.messages.made_up import Maker, hints_of

LOW_LEVEL = frozenset({"blocks", "phrase", "languages", "escaping", "excerpts", "clauses"})
"""What builders are made of; a template is ours there, not anybody's."""
TEMPLATES = frozenset({"modals.form", "modals.plain"})


def builders() -> Iterator[tuple[str, Callable[..., object]]]:
    """Every public function that makes a message, a view or a sentence of one."""
    for info in pkgutil.iter_modules(handlers.messages.__path__, "handlers.messages."):
        short = info.name.rpartition(".")[2]
        if short in LOW_LEVEL or info.ispkg:
            continue
        module = importlib.import_module(info.name)
        for name, made in vars(module).items():
            if not inspect.isfunction(made) or made.__module__ != info.name or name.startswith("_"):
                continue
            given = hints_of(made).get("return")
            kinds = {given, *typing.get_args(given)}
            if kinds & {Message, Phrase} or (
                name.endswith(("_form", "_view", "_card")) and f"{short}.{name}" not in TEMPLATES
            ):
                yield f"{short}.{name}", made


def wrong_in(said: object) -> list[str]:
    """What this would do in Slack that it must not."""
    if said is None:
        return []
    if isinstance(said, list):
        return [problem for one in said for problem in wrong_in(one)]
    if isinstance(said, Phrase):
        said = message(say("{who} says {said}", who="x", said=said), None)
    if isinstance(said, Message):
        as_sent, found = {"text": said.text, "blocks": said.blocks}, list(problems_of_blocks(said.blocks, _no_file))
        if len(said.text) > 4_000:
            found.append(f"{len(said.text)} letters of text")
    else:
        as_sent, found = {"blocks": said["blocks"]}, list(problems_of_view(said, _no_file))
    found += [f"calls {one}" for one in pings(as_sent)] + [f"links to {one}" for one in links(as_sent, bare=False)]
    for element in _mrkdwn_in(as_sent["blocks"]):
        # Bare addresses and names become no links only where Slack is told to take the text as it is.
        if not element.get("verbatim"):
            found.append("mrkdwn that is not verbatim")
    try:
        json.dumps(as_sent).encode("utf-8")
        json.dumps(as_sent, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        found.append("letters that cannot be sent")
    return found


def _mrkdwn_in(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list):
        for item in value:
            yield from _mrkdwn_in(item)
    elif isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value
        for item in value.values():
            yield from _mrkdwn_in(item)


def _no_file(_id: str) -> None:
    return None


def attack(strings: int, seed: int) -> tuple[Maker, Counter[str], dict[str, str]]:
    """Try all builders in turn until so many strings were used; tries per builder, and what went wrong in which."""
    maker, tried, wrong = Maker(seed), Counter[str](), dict[str, str]()
    every = list(builders())
    while maker.strings < strings:
        for name, builder in every:
            language = maker.dice.choice(("en", "zh"))
            several, named = maker.arguments(builder)
            with speaking(language):
                try:
                    found = wrong_in(builder(*several, **named))
                except Exception as failure:
                    found = [f"{type(failure).__name__}: {failure}"]
            tried[name] += 1
            if found and name not in wrong:
                wrong[name] = f"{found[0][:300]} (of {len(found)}, in {language}, try {tried[name]}, seed {seed})"
    return maker, tried, wrong


def main() -> int:
    """The full count, with its figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strings", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    maker, tried, wrong = attack(options.strings, options.seed)
    for name, why in wrong.items():
        sys.stdout.write(f"{name}: {why}\n")
    sys.stdout.write(
        f"{maker.strings:,} hostile strings in {sum(tried.values()):,} messages of {len(tried)} builders: "
        f"{len(wrong)} builders did what they must not ({time.monotonic() - began:.0f} s)\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The Slack app as it is created: made from the commands, and all that the product needs."""

import json

import pytest

from bot.cli import main
from bot.manifest import BOT_SCOPES, manifest
from handlers import COMMANDS


@pytest.mark.parametrize("prefix", ["", "rw-"])
def test_every_command_is_in_the_manifest(prefix):
    """Whoever installs the app by it can type all of them."""
    named = [one["command"] for one in manifest(prefix)["features"]["slash_commands"]]

    assert named == [f"/{prefix}{command.name}" for command in COMMANDS]


def test_it_needs_no_public_address_unless_one_is_given():
    """Socket Mode by default; signed HTTP where somebody says where."""
    by_socket, by_http = manifest(), manifest(public_url="https://runwatch.example.com/")

    assert by_socket["settings"]["socket_mode_enabled"]
    assert not by_http["settings"]["socket_mode_enabled"]
    assert "https://runwatch.example.com/slack/events" in json.dumps(by_http)


def test_the_command_prints_what_slack_takes(capsys):
    """JSON on standard output, with the scopes that the doctor asks for."""
    assert main(["manifest"]) == 0

    printed = json.loads(capsys.readouterr().out)

    assert set(BOT_SCOPES) <= set(printed["oauth_config"]["scopes"]["bot"])

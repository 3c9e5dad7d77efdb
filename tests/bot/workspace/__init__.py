"""Promises of the local Slack-shaped workspace."""

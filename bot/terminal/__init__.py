"""The Slack answers in a terminal: the same questions, the same words, without Slack."""

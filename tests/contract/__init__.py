"""What unmodified slack_sdk and slack-bolt expect of Slack, asked of our workspace."""

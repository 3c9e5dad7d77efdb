"""The command line, the Slack process, the monitor and the local workspace: the only place that knows everything."""

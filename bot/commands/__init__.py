"""What `runwatch` can do, one file a command: SUMMARY, configure(parser), run(options)."""

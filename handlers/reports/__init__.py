"""The post-mortem of a run: what happened, what it rests on, what was done and by whom; as Markdown and as HTML."""

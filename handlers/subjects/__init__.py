"""What `/runwatch WORD` does, one file per family of words."""

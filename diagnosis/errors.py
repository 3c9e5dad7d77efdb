"""The two kinds of failure that are not ours; each is caught once, at the edge."""


class Mistake(Exception):
    """A person can put it right, and the text says how."""


class Away(Exception):
    """Something outside does not answer now; it is retried and, in the end, said."""

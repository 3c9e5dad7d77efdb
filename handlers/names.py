"""Names of commands as they stand in a workspace: our word behind a prefix, because workspaces share one namespace."""


def typed(run: str) -> str:
    """A run's name as it is typed behind a command: in quotes when it has spaces."""
    if not any(letter.isspace() for letter in run):
        return run
    return f'"{run}"' if "'" in run else f"'{run}'"


def slash(prefix: str, name: str) -> str:
    """`/loss`, or `/rw-loss` behind the prefix `rw-`."""
    return f"/{prefix}{name}"

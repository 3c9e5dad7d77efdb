"""`python -m watcher`: the watching process of `runwatch run`, started by its launcher only."""

from watcher.launched import main

if __name__ == "__main__":
    raise SystemExit(main())

"""Parts that have their own tests, left out of others."""


class NoCharts:
    """Wants are noted, nothing is drawn."""

    def __init__(self) -> None:
        self.wanted = []

    def want(self, record) -> None:
        self.wanted.append(record)

    def know(self, record) -> None:
        pass

    def changed(self, record) -> None:
        pass

    def forget(self, incidents) -> None:
        pass

    async def stop(self) -> None:
        pass


class NoJudge:
    """Judges nothing."""

    troubles = {}  # noqa: RUF012

    def begin(self):
        pass

    async def judge(self, now, tracker):
        return []

    async def turns(self, now, tracker):
        return []

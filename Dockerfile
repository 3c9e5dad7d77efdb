# Two small images from one file:
#   docker build --target bot     -t runwatch-bot .
#   docker build --target watcher -t runwatch-watcher .
# Packages are pinned by hash; nothing is compiled. No build engine runs in CI: tests/architecture/test_dockerfile.py
# checks what can be checked without one (targets, users, files copied, lock files, the health commands).

FROM python:3.12-slim AS base
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/runwatch runwatch
WORKDIR /opt/runwatch

FROM base AS watcher
COPY requirements-watcher.lock ./
RUN pip install --require-hashes --only-binary=:all: -r requirements-watcher.lock
COPY pyproject.toml README.md LICENSE ./
COPY diagnosis diagnosis
COPY registry registry
COPY watcher watcher
COPY bot bot
COPY handlers handlers
COPY charts charts
RUN pip install --no-deps --no-build-isolation .
USER runwatch
ENV RUNWATCH_STATE_DIR=/var/lib/runwatch
VOLUME /var/lib/runwatch
# Alive means: it observed something lately, not merely that a process exists.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["runwatch", "health", "watcher"]
ENTRYPOINT ["runwatch", "watch"]

FROM base AS bot
COPY requirements-bot.lock ./
RUN pip install --require-hashes --only-binary=:all: -r requirements-bot.lock
COPY pyproject.toml README.md LICENSE ./
COPY diagnosis diagnosis
COPY registry registry
COPY charts charts
COPY handlers handlers
COPY watcher watcher
COPY bot bot
RUN pip install --no-deps --no-build-isolation .
USER runwatch
ENV RUNWATCH_STATE_DIR=/var/lib/runwatch MPLCONFIGDIR=/var/lib/runwatch/matplotlib
VOLUME /var/lib/runwatch
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["runwatch", "health", "bot"]
ENTRYPOINT ["runwatch", "bot"]

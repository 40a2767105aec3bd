# The image of the production mode: one image for the web server, the workers and migrations.

FROM python:3.12.11-slim AS packages
COPY requirements.lock .
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --no-deps --only-binary=:all: --require-hashes -r requirements.lock

FROM python:3.12.11-slim
RUN useradd --system --uid 10001 --no-create-home touchstone \
    && install --directory --owner touchstone /var/lib/touchstone /var/lib/touchstone/uploads \
        /var/lib/touchstone/erasures /var/lib/touchstone/seals /var/lib/touchstone/compiled
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY . .
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TOUCHSTONE_HOME=/var/lib/touchstone \
    NUMBA_CACHE_DIR=/var/lib/touchstone/compiled \
    TOUCHSTONE_MODE=production
# Whoever collects the static files owns them, and nobody else may read them.
USER touchstone
# Settings want values to start; none of these outlives this line.
RUN TOUCHSTONE_SECRET_KEY=$(python -c "import secrets; print(secrets.token_urlsafe(64))") \
    TOUCHSTONE_HOSTS=localhost DATABASE_URL=postgres://nobody@localhost/none REDIS_URL=redis://localhost \
    python manage.py collectstatic --no-input --verbosity 0
EXPOSE 8000
# WEB_CONCURRENCY sets the number of processes. /dev/shm: a heartbeat must not wait for a disk.
CMD ["gunicorn", "config.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "config.serving.BufferingWorker", "--threads", "8", \
     "--worker-tmp-dir", "/dev/shm", "--timeout", "120", "--no-control-socket"]

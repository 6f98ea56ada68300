# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/pulsegate
ENV PATH=/opt/pulsegate/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# The locked dependencies first: they change less often than the code.
COPY requirements/service.lock requirements/
RUN pip install --require-hashes -r requirements/service.lock
COPY requirements/build.lock requirements/
RUN python -m venv /opt/build && /opt/build/bin/pip install --require-hashes -r requirements/build.lock
COPY . .
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && pip install --no-deps /wheels/*.whl

FROM python:3.13-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin pulsegate
COPY --from=build /opt/pulsegate /opt/pulsegate
ENV PATH=/opt/pulsegate/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    LOG_FORMAT=json
USER 10001
WORKDIR /tmp
EXPOSE 8000
# Of web; the other services of docker-compose.yml have their own.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 8000)}/healthz', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["pulsegate"]
CMD ["web"]

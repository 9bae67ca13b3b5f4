# The mock and the conformance suite for those who have no Node: see docs/mock.md. CI builds it with Buildah.
ARG BASE=docker.io/library/node:24-bookworm-slim

# Built where the engine runs, whatever platform the image is for: what comes of it is JavaScript alone.
FROM --platform=$BUILDPLATFORM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack --pack-destination /tmp \
  && npm install --global --prefix /installed --offline --ignore-scripts --no-audit --no-fund /tmp/ib-conformance-*.tgz

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="ib-conformance" \
  org.opencontainers.image.description="Conformance suite and reference mock server for the partner referral (IB) lookup interface" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}"
COPY --from=build /installed /usr/local
# In numbers, so that an orchestrator sees that it is not root.
USER 1000:1000
# Where a fixture is looked for and a report is put when its path is relative: mount a folder here.
WORKDIR /work
EXPOSE 4010
# The mock takes signals as the first process, and starts no other that could be left behind: it needs no init.
STOPSIGNAL SIGTERM
# Any answer will do, as that of a mock without admin API. Never through a proxy. Kubernetes sets the variable to an address.
HEALTHCHECK --interval=3s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "require('http').get({ host: '127.0.0.1', port: Number(process.env.IB_CONFORMANCE_PORT) || 4010, path: '/__admin/health', agent: false }, () => process.exit(0)).on('error', () => process.exit(1))"]
ENTRYPOINT ["ib-conformance"]
CMD ["mock", "--host", "0.0.0.0"]

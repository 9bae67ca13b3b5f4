# The mock and the conformance suite for those who have no Node: see docs/mock.md.
ARG NODE_VERSION=24

# Built where the engine runs, whatever platform the image is for: what comes of it is JavaScript alone. Debian, for
# that is what the project itself is built and tested on.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack --pack-destination /tmp \
  && npm install --global --prefix /installed --offline --ignore-scripts --no-audit --no-fund /tmp/ib-conformance-*.tgz

# Alpine: the smallest of node's own images, and it has a shell and a wget for who has to look inside. The package needs
# neither, nor npm: it runs in a root that holds node, `env` and the C library.
FROM node:${NODE_VERSION}-alpine
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
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --start-interval=500ms --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4010/__admin/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["ib-conformance"]
CMD ["mock", "--host", "0.0.0.0"]

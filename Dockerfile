# An image of the `varve` command. It runs as a user without rights, on a root file system that may be read-only; what it
# writes is below /data. Build: docker build -t varve:0.1.0 .   Your content types: FROM varve:0.1.0, COPY src /content-types
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY infra/checkout ./infra/checkout
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY shared ./shared
COPY projections ./projections
COPY services ./services
COPY examples ./examples
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json \
  && npm prune --omit=dev --ignore-scripts \
  # Half of what is left is for editors, debuggers and another C library.
  && find node_modules \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' \) -delete \
  && rm -rf node_modules/@types node_modules/@kurrent/bridge-*-musl

FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2
ENV NODE_ENV=production \
    VARVE_DATA=/data \
    VARVE_HOST=0.0.0.0 \
    VARVE_PORT=1337 \
    VARVE_METRICS_HOST=0.0.0.0 \
    VARVE_METRICS_PORT=9464 \
    VARVE_LOG_FORMAT=json \
    VARVE_LOG_LEVEL=info \
    VARVE_CONTENT_TYPES=/content-types
WORKDIR /varve
COPY --from=build --chown=root:root /build/package.json ./
COPY --from=build --chown=root:root /build/node_modules ./node_modules
COPY --from=build --chown=root:root /build/dist ./dist
COPY --from=build --chown=root:root /build/examples ./examples
COPY --chown=root:root infra/docker/healthcheck.mjs ./healthcheck.mjs
RUN mkdir /data && chown node:node /data
VOLUME /data
USER 1000:1000
EXPOSE 1337 9464
# SIGTERM reaches node itself, which drains and exits.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=120s --start-interval=1s --retries=3 \
  CMD ["node", "/varve/healthcheck.mjs"]
ENTRYPOINT ["node", "/varve/dist/services/cli/varve.js"]
CMD ["serve"]

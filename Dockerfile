# The image of the `varve` command. It runs as user 1000 and keeps its data in /data. The root file system can be read-only; then
# mount a tmpfs at /tmp. Build it: docker build -t varve:0.1.0 .
# Add your content types in an image of your own: FROM varve:0.1.0, COPY src /content-types
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
  # These files are for editors, debuggers and another C library. Without them the folder is half as large.
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
# Node receives SIGTERM directly, and Varve drains and exits.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=120s --start-interval=1s --retries=3 \
  CMD ["node", "/varve/healthcheck.mjs"]
ENTRYPOINT ["node", "/varve/dist/services/cli/varve.js"]
CMD ["serve"]

# The image of one service of a central workspace: docker build --build-arg SERVICE=gateway .
# NODE_IMAGE may name another build of Node 24, such as one by its digest.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS base
WORKDIR /app

# Manifests alone: what is installed from them is kept until one of them changes.
FROM base AS sources
COPY . ./
RUN mkdir manifests && find . -path ./manifests -prune -o -name 'package*.json' -print | tar -cf - -T - | tar -xf - -C manifests

FROM base AS manifests
COPY --from=sources /app/manifests ./

# The service and the packages of ours that it needs, each in its folder below `built`.
FROM manifests AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . ./
ARG SERVICE
RUN NX_DAEMON=false npx nx run-many -t bundle --projects=@workspace-graph/${SERVICE} --outputStyle=static \
  && mkdir built data && find apps libs -name node_modules -prune -o -name dist -print | tar -cf - --exclude='*.map' -T - | tar -xf - -C built

# Without what only builds and tests need; optional are the parts of a workstation, such as the embedded database, and what
# the page is built of.
FROM manifests AS packages
ARG SERVICE
RUN npm ci --workspace=@workspace-graph/${SERVICE} --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM base AS service
ARG SERVICE
ENV NODE_ENV=production SERVICE=${SERVICE}
COPY --from=packages /app ./
COPY --from=build /app/built ./
# What a service keeps lies in a volume; it begins as this empty folder, which belongs to the user.
COPY --from=build --chown=1000:1000 /app/data ./data
USER 1000:1000
CMD ["sh", "-c", "exec node --max-semi-space-size=8 apps/$SERVICE/dist/bundle/main.js"]

# The images of a central workspace, one target for each service: docker build --target gateway .
# NODE_IMAGE may name another build of Node 24, such as one by its digest.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS base
WORKDIR /app

# Manifests alone: what is installed from them is kept until one of them changes.
FROM base AS manifests
COPY package.json package-lock.json ./
COPY apps/device-agent/package.json apps/device-agent/
COPY apps/gateway/package.json apps/gateway/
COPY apps/graph-svc/package.json apps/graph-svc/
COPY libs/bus/package.json libs/bus/
COPY libs/client/package.json libs/client/
COPY libs/contracts/package.json libs/contracts/
COPY libs/database/package.json libs/database/
COPY libs/device/package.json libs/device/
COPY libs/domain/package.json libs/domain/
COPY libs/platform/package.json libs/platform/
COPY libs/services/file/package.json libs/services/file/
COPY libs/services/graph/package.json libs/services/graph/
COPY libs/services/identity/package.json libs/services/identity/
COPY libs/surfaces/package.json libs/surfaces/
COPY libs/testing/package.json libs/testing/

FROM manifests AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY .swcrc nx.json prisma.config.ts ./
COPY prisma prisma
COPY apps apps
COPY libs libs
RUN NX_DAEMON=false npx nx run-many -t build --projects=@workspace-graph/gateway,@workspace-graph/graph-svc --outputStyle=static

# Without what only builds and tests need; optional are the parts of a workstation, such as the embedded database.
FROM manifests AS gateway-packages
RUN npm ci --workspace=@workspace-graph/gateway --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM base AS gateway
ENV NODE_ENV=production
COPY --from=gateway-packages /app ./
COPY --from=build /app/libs/contracts/dist libs/contracts/dist
COPY --from=build /app/libs/domain/dist libs/domain/dist
COPY --from=build /app/libs/platform/dist libs/platform/dist
COPY --from=build /app/libs/bus/dist libs/bus/dist
COPY --from=build /app/libs/surfaces/dist libs/surfaces/dist
COPY --from=build /app/apps/gateway/dist apps/gateway/dist
USER 1000:1000
EXPOSE 4010
CMD ["node", "apps/gateway/dist/main.js"]

FROM manifests AS graph-svc-packages
RUN npm ci --workspace=@workspace-graph/graph-svc --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM base AS graph-svc
ENV NODE_ENV=production
COPY --from=graph-svc-packages /app ./
COPY --from=build /app/libs/contracts/dist libs/contracts/dist
COPY --from=build /app/libs/domain/dist libs/domain/dist
COPY --from=build /app/libs/platform/dist libs/platform/dist
COPY --from=build /app/libs/bus/dist libs/bus/dist
COPY --from=build /app/libs/database/dist libs/database/dist
COPY --from=build /app/libs/services/graph/dist libs/services/graph/dist
COPY --from=build /app/libs/services/identity/dist libs/services/identity/dist
COPY --from=build /app/apps/graph-svc/dist apps/graph-svc/dist
USER 1000:1000
EXPOSE 4012
CMD ["node", "apps/graph-svc/dist/main.js"]

# One image for every process of an installation:
#   web | worker | sandbox        stays in the foreground, ends in order on SIGTERM
#   migrate apply                 applies migrations and ends
#   admin <noun> <verb>           the operators' commands
# docs/operate/deploy.md shows it with compose and Kubernetes; `npm run prove:image` runs these steps without an engine.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The lock file has the checksum of each package. No package needs a script of its own to build or run Capstan.
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs
RUN npm prune --omit=dev --ignore-scripts && rm -rf .next/cache node_modules/.cache

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production \
    CAPSTAN_ENV=production \
    CAPSTAN_DATA_DIR=/data \
    HOST=0.0.0.0 \
    PORT=3000 \
    WORKER_PORT=3000
COPY --from=build /app/package.json /app/LICENSE /app/NOTICE ./
COPY --from=build /app/licences ./licences
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/.next ./.next
COPY --from=build /app/public ./public
COPY --from=build /app/docs ./docs
COPY --from=build /app/next.config.js ./
COPY --from=build /app/prisma/migrations ./prisma/migrations
COPY --from=build /app/scripts/start.mjs ./scripts/start.mjs
# Everything else is read-only for the process: run it with a read-only root.
RUN mkdir -p /data && chown 1000:1000 /data
VOLUME /data
USER 1000:1000
EXPOSE 3000
# Web and worker both report at PORT; a worker needs WORKER_PORT to be equal to it.
HEALTHCHECK --interval=10s --timeout=5s --retries=6 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node as process 1 forwards SIGTERM; the process then has 25 seconds for running provider calls.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "scripts/start.mjs"]
CMD ["web"]

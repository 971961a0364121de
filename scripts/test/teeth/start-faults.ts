import type { Fault } from "./fault";

/** Faults of starts, upgrades and the names of routes. */
export const START_FAULTS: Fault[] = [
  {
    name: "start-brings-back-what-was-revoked",
    file: "prisma/bootstrap.ts",
    find: "    if (await isInUse()) return { isNew: false };\n",
    replace: "",
    caughtBy: "scripts/seed.isolated.test.ts",
  },
  {
    name: "failed-first-job-stops-the-start",
    file: "scripts/launch/first-job.ts",
    find: "report.say(`The first job failed:",
    replace: "throw new Error(`The first job failed:",
    caughtBy: "scripts/launch/first-job.test.ts",
  },
  {
    name: "preferred-model-by-id-alone",
    file: "server/domain/catalog/routes.ts",
    find: "of.filter((target) => routeKey(target) === preferredModel)",
    replace: "byId",
    caughtBy: "server/domain/catalog/named.db.test.ts",
  },
  {
    name: "badge-apart-from-health",
    file: "server/domain/connections/health-of.ts",
    find: "return [credentialId, stateOf({ status, ...known })];",
    replace: 'return [credentialId, status === "refused" ? "degraded" : "healthy"];',
    caughtBy: "server/domain/onboarding/connections.db.test.ts",
  },
];

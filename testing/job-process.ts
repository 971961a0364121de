import { randomUUID } from "node:crypto";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";

/* A process that runs one job, and may be killed on the way (CAPSTAN_FAILPOINTS). */
const [, , jobId = "", runId = randomUUID()] = process.argv;
await jobs.run(systemCtx("job-process"), jobId, {
  runId,
  run: (_id, work) => work(),
  sleep: (_id, ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});
process.exit(0);

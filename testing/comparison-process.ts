import { ComparisonCreateRequest } from "@/server/contract/comparisons";
import * as comparisons from "@/server/domain/comparisons";
import { systemCtx } from "@/server/domain/ctx";

/* A process that creates one comparison, and may be killed on the way (CAPSTAN_FAILPOINTS). */
const { projectId, capability, ...body } = JSON.parse(process.argv[2] ?? "{}");
const request = ComparisonCreateRequest.parse({ context: { projectId }, ...body });
await comparisons.create(systemCtx("comparison-process"), capability, request);
process.exit(0);

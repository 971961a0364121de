import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";

/* A process that runs one pinned request, and may be killed on the way (CAPSTAN_FAILPOINTS). */
const [, , request = "{}"] = process.argv;
await pins.run(systemCtx("pin-process"), JSON.parse(request));
process.exit(0);

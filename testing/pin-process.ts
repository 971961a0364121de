import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";

/* Runs one pinned request in a process of its own, which may die on the way (CAPSTAN_FAILPOINTS). */
const [, , request = "{}"] = process.argv;
await pins.run(systemCtx("pin-process"), JSON.parse(request));
process.exit(0);

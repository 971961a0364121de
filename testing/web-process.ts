import { holdProcessLock } from "@/server/domain/jobs";
import { startServer } from "@/server/web/server";

/* A process with the API and no pages, for tests of two processes on one database. */
const server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
await holdProcessLock();
process.send?.({ url: server.url });

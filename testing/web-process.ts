import { holdProcessLock } from "@/server/domain/jobs";
import { startServer } from "@/server/web/server";

/* The API in a process of its own, without pages: for tests of what two processes do with one database. */
await holdProcessLock();
const server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
process.send?.({ url: server.url });

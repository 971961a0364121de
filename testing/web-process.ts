import { holdProcessLock } from "@/server/domain/jobs";
import { startServer } from "@/server/web/server";

/* The API in a process of its own, without pages: for tests of what two processes do with one database. */
const server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
await holdProcessLock();
process.send?.({ url: server.url });

import { createServer } from "node:net";
import pg from "pg";
import { expect, test, vi } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { pool, prisma } from "@/server/platform/db";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { makeProject, rowsOf } from "@/testing/world";

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test("a connection that cannot be made, breaks off or is taken away is an outage", async () => {
  const unreachable = new pg.Pool({ connectionString: "postgres://nobody@127.0.0.1:1/nothing" });
  expect(isDatabaseOutage(await errorOf(unreachable.query("SELECT 1")))).toBe(true);
  await unreachable.end();

  const deaf = createServer((socket) => socket.destroy());
  await new Promise<void>((listening) => deaf.listen(0, "127.0.0.1", listening));
  const { port } = deaf.address() as { port: number }; // a TCP server that listens has one
  const broken = new pg.Pool({ connectionString: `postgres://nobody@127.0.0.1:${port}/nothing` });
  expect(isDatabaseOutage(await errorOf(broken.query("SELECT 1")))).toBe(true);
  await broken.end();
  deaf.close();

  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const waiting = errorOf(client.query("SELECT pg_sleep(30)"));
  await pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
  expect(isDatabaseOutage(await waiting)).toBe(true);
  client.release(true);
});

test("a connection that is taken away during a query of Prisma Client is an outage", async () => {
  const sleeping =
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(31)%' AND state = 'active'";
  const waiting = errorOf(prisma.$queryRaw`SELECT pg_sleep(31)::text`);
  await vi.waitFor(async () => expect((await pool.query(sleeping)).rowCount).toBe(1));
  await pool.query(`SELECT pg_terminate_backend(pid) FROM (${sleeping}) sleeping`);
  expect(isDatabaseOutage(await waiting)).toBe(true);
  expect(isDatabaseOutage(await errorOf(prisma.$queryRaw`SELECT 1 / 0`))).toBe(false);
});

test("an error of the database itself, or of other sockets and files, is no outage", async () => {
  expect(isDatabaseOutage(await errorOf(pool.query("SELECT * FROM nowhere")))).toBe(false);
  expect(isDatabaseOutage(await errorOf(pool.query("SELECT 1 / 0")))).toBe(false);
  expect(
    isDatabaseOutage(await errorOf(import("node:fs/promises").then((fs) => fs.readFile("/nowhere")))),
  ).toBe(false);
  for (const other of [new Error("x"), new TypeError("fetch failed"), null, "text", { code: "ECONNREFUSED" }])
    expect(isDatabaseOutage(other)).toBe(false);
});

test("a provider's answer that cannot be recorded is never reported as safe to send again", async () => {
  const { ctx, projectId } = await makeProject();
  const query = pool.query.bind(pool);
  const refusal = Object.assign(new Error("connect ECONNREFUSED"), {
    code: "ECONNREFUSED",
    syscall: "connect",
  });
  const spy = vi
    .spyOn(pool, "query")
    .mockImplementation(((statement: { text?: string }, ...rest: unknown[]) =>
      statement?.text?.includes("INSERT INTO receipt")
        ? Promise.reject(refusal)
        : (query as (...args: unknown[]) => unknown)(statement, ...rest)) as typeof pool.query); // the same calls, one refused
  const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
  const fault = await errorOf(jobs.invoke(ctx, "text.general.fast.v1", { input }));
  spy.mockRestore();
  expect(fault).toMatchObject({
    code: "TRANSPORT_AMBIGUOUS",
    row: { status: 502, retryable: false },
    details: { executionId: expect.stringMatching(/^wfr_/), receiptId: expect.stringMatching(/^rcpt_/) },
  });
  const { executionId } = (fault as { details: { executionId: string } }).details;
  expect((await rowsOf(executionId)).job).toMatchObject({ project_id: projectId, status: "running" });
});

import { randomUUID } from "node:crypto";
import pg from "pg";
import { copyDatabase } from "./copy-database";

/*
 * Gives this worker its own copy of the migrated database, before anything connects. The pool is closed when the worker ends,
 * and the database is dropped with the run.
 */
const worker = globalThis as { capstanTestDatabase?: string };

if (!worker.capstanTestDatabase) {
  const template = new URL(process.env.DATABASE_URL ?? "");
  const name = `worker_${randomUUID().replaceAll("-", "")}`;
  const admin = new URL(template);
  admin.pathname = "/postgres";
  const client = new pg.Client({ connectionString: admin.href });
  await client.connect();
  try {
    await copyDatabase(client, name, template.pathname.slice(1));
  } finally {
    await client.end();
  }
  const own = new URL(template);
  own.pathname = `/${name}`;
  process.env.DATABASE_URL = own.href;
  worker.capstanTestDatabase = own.href;
}

import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "@/server/generated/prisma/client";
import { requireUtc } from "@/server/platform/database-zone";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";

/** Anything that runs a statement: the pool, or the client of a transaction. */
export type Queryable = Pick<pg.Pool | pg.PoolClient, "query">;

declare const begun: unique symbol;
/** The client of a transaction that `inTransaction` began, for rows that must be written together with others or not at all. */
export type Transaction = pg.PoolClient & { readonly [begun]: true };

type Database = { pool: pg.Pool; relaxedPool: pg.Pool; prisma: PrismaClient };

// int8 becomes a number: counters and micros fit, and a larger value throws, because it must never be rounded silently.
function parseInt8(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`int8 ${value} is beyond a safe integer`);
  return number;
}
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== "binary" ? parseInt8 : pg.types.getTypeParser(oid, format),
};

/** Opens a pool that refuses connections whose times are not in UTC; `settings` are further connection options. */
export function openDatabasePool(max: number, settings = ""): pg.Pool {
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL,
    max,
    keepAlive: true, // notices a host that vanished
    // `*` makes row-level security show the rows of every project.
    options: `-c capstan.project_id=* -c random_page_cost=1.1${settings}`,
    application_name: "capstan",
    types,
    onConnect: requireUtc, // checked, not set: poolers refuse options that they do not know
  });
  const lost = (error: Error) => log.warn({ error: error.message }, "a database connection was lost");
  pool.on("error", lost);
  pool.on("connect", (client) => client.on("error", lost)); // also while it is checked out
  return pool;
}

function open(): Database {
  const pool = openDatabasePool(env.DATABASE_POOL);
  return {
    pool,
    relaxedPool: openDatabasePool(RELAXED_CONNECTIONS, " -c synchronous_commit=off"),
    prisma: new PrismaClient({ adapter: new PrismaPg(pool) }),
  };
}

const RELAXED_CONNECTIONS = 10;

// The web process runs our modules twice, once in Next's bundle: both must share one pool.
const shared = globalThis as { capstanDatabase?: Database }; // our own property, written only below
function database(): Database {
  shared.capstanDatabase ??= open();
  return shared.capstanDatabase;
}

/** Pool for hand-written statements on the hot path: int8 arrives as a number, and rows of every project are visible. */
export const pool: pg.Pool = database().pool;
/**
 * Pool that commits without waiting for the disk: after a crash of the database (not of a process) the last fraction of a second
 * of such writes may be lost, always together with everything written after them. Only for writes that can be restored from rows
 * whose commit was waited for, such as wakes, claims, leases, notices and the engine's run slots. Its connections open on first use.
 */
export const relaxedPool: pg.Pool = database().relaxedPool;
/** A connection outside the pools, for LISTEN; it keeps no process alive. The caller connects and ends it. */
export function openListener(name: string, options?: string): pg.Client {
  const client = new pg.Client({
    connectionString: env.DATABASE_URL,
    keepAlive: true,
    application_name: name,
    options,
  });
  (client as pg.Client & { unref(): void }).unref(); // pg's types leave the method out
  return client;
}

/** Prisma Client over the first pool, for plain rows of people and settings (server/sql/people.ts). It joins no transaction. */
export const prisma: PrismaClient = database().prisma;

/**
 * Runs a statement that the database may refuse in the ordinary course. `pool.query` throws away the connection of every error,
 * and a new one costs more than the statement.
 */
export async function keepConnection<T>(
  work: (client: Queryable) => Promise<T>,
  from: pg.Pool = pool,
): Promise<T> {
  const client = await from.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (cause) {
    // An ERROR of the server leaves the connection as it was; FATAL, or no answer, does not.
    const isRefusal = cause instanceof pg.DatabaseError && cause.severity === "ERROR";
    client.release(isRefusal ? undefined : (cause as Error));
    throw cause;
  }
}

/** Runs hand-written statements in one transaction; an error rolls everything back and is rethrown. */
export async function inTransaction<T>(work: (client: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(client as Transaction); // BEGIN has run; nothing else makes a Transaction
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    await client.query("ROLLBACK").then(
      () => client.release(),
      (lost) => client.release(lost),
    );
    throw error;
  }
}

/** Closes the pools; the process must not use the database afterwards. */
export async function closeDatabase(): Promise<void> {
  const { pool, relaxedPool, prisma } = database();
  await prisma.$disconnect();
  for (const each of [pool, relaxedPool]) if (!each.ended) await each.end();
}

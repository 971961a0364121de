import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { inTransaction, pool, type Transaction } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { env } from "@/server/platform/settings/env";
import { int4, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { forgetAll, MOST_STALE_MS, setCurrent, setListening } from "./cache";

/*
 * A change returns when every web process has dropped its cached callers, or after a second: a process uses
 * its cache only if it confirmed within that second that no change is on its way. So no request after a
 * revocation is served by the key.
 */

/** Channel that announces every change of rights. */
export const ACCESS_CHANGED = "capstan_access";
const HEARD = "capstan_access_heard";
/**
 * Name of the connection on which a web process listens; counting these connections counts the live web
 * processes.
 */
const LISTENER = "capstan-listener";
const RECONNECT_MS = 1_000;
/** Check interval: several checks fit into the trust period, so one slow reply does not end it. */
const MAKE_SURE_MS = MOST_STALE_MS / 4;

/**
 * Runs `work` in a transaction that changes rights, and returns when no web process can act on the old ones.
 */
export function changeAccess<T>(work: (client: Transaction) => Promise<T>): Promise<T> {
  return untilHeard((nonce) =>
    inTransaction(async (client) => {
      const done = await work(client);
      await client.query("SELECT pg_notify($1, $2)", [ACCESS_CHANGED, nonce]);
      return done;
    }),
  );
}

/**
 * Each change holds one connection to listen and takes another to write. If all connections of the pool were
 * listening, every change would wait forever for a second one; so few run at a time.
 */
const MOST_AT_ONCE = Math.max(1, Math.floor(env.DATABASE_POOL / 4));
let underWay = 0;
const waiting: (() => void)[] = [];

/** Makes a change that announces this nonce, and waits until every web process has emptied its cache. */
async function untilHeard<T>(change: (nonce: string) => Promise<T>): Promise<T> {
  if (underWay >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else underWay++;
  try {
    return await changeAndHear(change);
  } finally {
    // The slot passes to the change that has waited longest, so that no later one slips in between.
    const next = waiting.shift();
    if (next) next();
    else underWay--;
  }
}

async function changeAndHear<T>(change: (nonce: string) => Promise<T>): Promise<T> {
  const nonce = randomUUID();
  const ear = await pool.connect();
  const heard = countHeard(ear, nonce);
  try {
    await ear.query(`LISTEN ${HEARD}`);
    const result = await change(nonce);
    await heard.reached(await countListeners(ear));
    return result;
  } finally {
    heard.stop();
    await ear.query(`UNLISTEN ${HEARD}`).then(
      () => ear.release(),
      (error) => ear.release(error),
    );
  }
}

function countHeard(ear: PoolClient, nonce: string) {
  let count = 0;
  let wanted = Number.POSITIVE_INFINITY;
  let done: () => void = () => {};
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const onNotification = (notice: { channel: string; payload?: string }) => {
    if (notice.channel !== HEARD || notice.payload !== nonce) return;
    count++;
    if (count >= wanted) done();
  };
  ear.on("notification", onNotification);
  return {
    /**
     * Settles when this number of listeners has answered, or after `MOST_STALE_MS`: by then no process uses its
     * cache without having checked for changes.
     */
    async reached(listeners: number) {
      wanted = listeners;
      if (count >= wanted) return;
      const timer = setTimeout(done, MOST_STALE_MS);
      await all;
      clearTimeout(timer);
    },
    stop: () => ear.off("notification", onNotification),
  };
}

const countEars = statement("connection.count.listeners", {
  params: { name: text },
  row: { count: int4 },
  sql: `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = $name AND datname = current_database()`,
});

async function countListeners(client: Pick<PoolClient, "query">): Promise<number> {
  const found = await countEars.first(client, { name: LISTENER });
  return found?.count ?? 0;
}

/** Number of live web processes, counted by their listening connections. */
export function countWebProcesses(): Promise<number> {
  return countListeners(pool);
}

export type Watch = { stop(): Promise<void> };

const ping = statement("connection.ping", {
  row: { one: int4 },
  sql: `SELECT 1 AS one`,
});

/**
 * Listens for changes, which allows this process to cache callers. Only the web process calls this; other
 * processes query the database each time. Reconnects after a lost connection and caches nothing meanwhile.
 */
export async function watchChanges(): Promise<Watch> {
  let client: PoolClient | null = null;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;
  let asked: PoolClient | null = null;

  /**
   * PostgreSQL delivers pending notifications before ReadyForQuery (PostgresMain), so a notice sent before
   * this query arrives ahead of its answer. Any answer therefore shows that no earlier notice is on its way.
   */
  async function makeSure() {
    const ear = client;
    if (!ear || asked === ear) return;
    asked = ear;
    const askedAt = performance.now();
    try {
      await ping.run(ear, {});
      if (client === ear) setCurrent(askedAt);
    } catch {
      lost(ear);
    } finally {
      if (asked === ear) asked = null;
    }
  }
  const making = setInterval(() => void makeSure(), MAKE_SURE_MS);
  making.unref();

  async function listen() {
    const ear = await pool.connect();
    if (isStopped) return ear.release();
    client = ear;
    ear.on("error", () => lost(ear));
    ear.on("end", () => lost(ear));
    ear.on("notification", (notice) => {
      if (client !== ear || notice.channel !== ACCESS_CHANGED || !notice.payload) return;
      forgetAll();
      ear.query("SELECT pg_notify($1, $2)", [HEARD, notice.payload]).catch(() => lost(ear));
    });
    await ear.query(`SET application_name = '${LISTENER}'`);
    await ear.query(`LISTEN ${ACCESS_CHANGED}`);
    if (client === ear) setListening(true);
  }

  function lost(ear: PoolClient) {
    if (client !== ear) return;
    client = null;
    setListening(false);
    ear.release(true);
    if (isStopped) return;
    log.warn("the listening database connection was lost; caching of callers is off until it is back");
    again();
  }

  function again() {
    clearTimeout(retry); // a connection lost while it is being set up counts as one loss
    retry = setTimeout(() => listen().catch(failed), RECONNECT_MS);
    retry.unref();
  }

  function failed() {
    if (client) lost(client);
    else if (!isStopped) again();
  }

  await listen();
  return {
    async stop() {
      isStopped = true;
      clearInterval(making);
      clearTimeout(retry);
      setListening(false);
      client?.release(true);
      client = null;
    },
  };
}

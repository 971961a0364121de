import { relaxedPool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { bool, nothing, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/**
 * The channel on which processes announce new events, and the name prefix of the connections that listen to
 * it.
 */
export const NEWS_CHANNEL = "capstan_events";
export const LISTENERS = "capstan-follower:";

/**
 * New events of a job and new frames of a stream have different topics, so that a follower of events is not
 * woken for frames.
 */
export const framesTopic = (jobId: string) => `~${jobId}`;

const TICK_MS = 10;
const ASK_AGAIN_MS = 2_000;
/** A NOTIFY payload must be shorter than 8,000 bytes; a topic has at most 31, and a space follows it. */
const TOPICS_PER_NOTICE = 200;

const sendNotices = statement("news.notify", {
  params: { channel: text, notices: texts },
  row: { pg_notify: nothing },
  prepared: true,
  sql: "SELECT pg_notify($channel, notice) FROM unnest($notices::text[]) AS notice",
});
const findFollower = statement("news.find.follower", {
  params: { name: text },
  row: { found: bool },
  prepared: true,
  sql: `SELECT EXISTS (SELECT FROM pg_stat_activity
    WHERE starts_with(application_name, $name) AND datname = current_database()) AS found`,
});

let unsent = new Set<string>();
let isOnItsWay = false;
let isAnyoneFollowing = false;
let askedAt = Number.NEGATIVE_INFINITY;

/**
 * Announces news to every process that follows, best effort and after the commit, because a NOTIFY in the
 * writing statement would make all commits wait for each other. Followers also look on their own, so a lost
 * notice only delays them.
 */
export function tell(topics: Iterable<string>): void {
  for (const topic of topics) unsent.add(topic);
  if (unsent.size > 0 && !isOnItsWay) schedule();
}

/** A follower in this process means that others may have followers too, so the next notice checks again. */
export function expectFollowers(): void {
  askedAt = Number.NEGATIVE_INFINITY;
}

function schedule(): void {
  isOnItsWay = true;
  setTimeout(() => void sendAll(), TICK_MS).unref();
}

async function sendAll(): Promise<void> {
  const topics = [...unsent];
  unsent = new Set();
  try {
    if (await doesAnyoneFollow()) {
      const notices: string[] = [];
      for (let at = 0; at < topics.length; at += TOPICS_PER_NOTICE)
        notices.push(topics.slice(at, at + TOPICS_PER_NOTICE).join(" "));
      await sendNotices.run(relaxedPool, { channel: NEWS_CHANNEL, notices });
    }
  } catch (cause) {
    // A closing process sends nothing and logs nothing; followers elsewhere look on their own.
    if (!relaxedPool.ending) log.warn({ err: cause }, "followers could not be notified; they poll instead");
  }
  isOnItsWay = false;
  if (unsent.size > 0) schedule();
}

/**
 * True if anyone follows a job, so that work without followers sends no notices. Asks the database at most
 * every two seconds.
 */
async function doesAnyoneFollow(): Promise<boolean> {
  if (performance.now() - askedAt < ASK_AGAIN_MS) return isAnyoneFollowing;
  askedAt = performance.now();
  const followers = await findFollower.first(relaxedPool, { name: LISTENERS });
  isAnyoneFollowing = followers?.found ?? false;
  return isAnyoneFollowing;
}

import { randomBytes } from "node:crypto";
import { ACCESS_CHANGED, MOST_STALE_MS } from "@/server/domain/access";
import { openListener } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { expectFollowers, LISTENERS, NEWS_CHANNEL } from "./notify";

/*
 * One hub per process serves every live stream over a single listening connection. A follower pulls: the hub
 * reads for a follower only while it waits, so a slow reader holds no more than the page it has. Followers
 * that wait at the same time share statements. Notices only make the hub fast: without them, it looks every
 * two seconds.
 */

/** New items after an id, in order. `hasEnded`: no item comes after this page. */
export type Page<Item> = { items: Item[]; hasEnded: boolean };
type PageRequest = { jobId: string; after: number };
/**
 * Reads for many followers at once, in the order of `asks`. A page of `PAGE_SIZE` items may have more behind
 * it.
 */
export type ReadPages<Item> = (asks: PageRequest[]) => Promise<Page<Item>[]>;
export const PAGE_SIZE = 64;

type HubTurn<Item> =
  | { state: "page"; page: Page<Item> }
  /** Nothing was new during the wait. */
  | { state: "quiet" }
  /** Someone's rights have changed: check whether this reader still has its own. */
  | { state: "check" }
  | { state: "left" };

type Following<Item> = {
  /** Waits at most `waitMs` for items after `after`. Only one call at a time. */
  next(after: number, waitMs: number): Promise<HubTurn<Item>>;
  leave(): void;
};

type Follower = {
  read: ReadPages<unknown>;
  jobId: string;
  topics: string[];
  after: number;
  hasNews: boolean;
  mustCheck: boolean;
  hasLeft: boolean;
  wake: ((turn: HubTurn<unknown>) => void) | null;
  timer: NodeJS.Timeout | undefined;
};

const LOOK_EVERY_MS = 2_000;
const RECONNECT_MS = 1_000;
/** The connection stays open a little longer than its last follower, because readers come and go. */
const LINGER_MS = 30_000;
/** The most followers that share one statement. */
const MOST_AT_ONCE = 500;

type FollowerHub = {
  follow<Item>(read: ReadPages<Item>, jobId: string, topics: string[]): Following<Item>;
  count(): number;
  /** The application name of its listening connection. */
  listener: string;
};

// The web process runs our modules twice, once in Next's bundle; both copies share one hub and its
// connection.
const shared = globalThis as { capstanHub?: FollowerHub }; // our own slot, written only here

export function hub(): FollowerHub {
  shared.capstanHub ??= makeHub();
  return shared.capstanHub;
}

function makeHub(): FollowerHub {
  const listener = `${LISTENERS}${process.pid}:${randomBytes(4).toString("hex")}`;
  const followers = new Set<Follower>();
  const byTopic = new Map<string, Set<Follower>>();
  const waits = waitsOfFollowers();
  const { settle, news } = waits;
  // Looks for items that were written before the connection listened.
  const ear = earOf(listener, { notice, listening: look });
  let looking: NodeJS.Timeout | undefined;
  let checking: NodeJS.Timeout | undefined;

  function look(): void {
    for (const follower of followers) news(follower);
  }

  function notice(channel: string, payload: string): void {
    if (channel === ACCESS_CHANGED) checkSoon();
    else for (const topic of payload.split(" ")) for (const each of byTopic.get(topic) ?? []) news(each);
  }

  /** Checks every follower again once no process can still remember the old rights. */
  function checkSoon(): void {
    if (checking) clearTimeout(checking);
    checking = setTimeout(() => {
      checking = undefined;
      for (const follower of followers) {
        if (follower.wake) settle(follower, { state: "check" });
        else follower.mustCheck = true;
      }
    }, MOST_STALE_MS).unref();
  }

  function join(follower: Follower): void {
    followers.add(follower);
    for (const topic of follower.topics) {
      const there = byTopic.get(topic);
      if (there) there.add(follower);
      else byTopic.set(topic, new Set([follower]));
    }
    looking ??= setInterval(look, LOOK_EVERY_MS).unref();
    ear.listen();
  }

  function leave(follower: Follower): void {
    if (follower.hasLeft) return;
    follower.hasLeft = true;
    settle(follower, { state: "left" });
    followers.delete(follower);
    for (const topic of follower.topics) {
      const there = byTopic.get(topic);
      there?.delete(follower);
      if (there?.size === 0) byTopic.delete(topic);
    }
    if (followers.size > 0) return;
    clearInterval(looking);
    looking = undefined;
    ear.leaveSoon();
  }

  return {
    listener,
    count: () => followers.size,
    follow<Item>(read: ReadPages<Item>, jobId: string, topics: string[]): Following<Item> {
      const follower = newFollower(read, jobId, topics);
      join(follower);
      return {
        next: (after, waitMs) => waits.next<Item>(follower, after, waitMs),
        leave: () => leave(follower),
      };
    },
  };
}

const newFollower = (read: ReadPages<unknown>, jobId: string, topics: string[]): Follower => ({
  read,
  jobId,
  topics,
  after: 0,
  hasNews: true,
  mustCheck: false,
  hasLeft: false,
  wake: null,
  timer: undefined,
});

/** Lets followers wait, and reads for those that wait and have news. */
function waitsOfFollowers() {
  const due = new Set<Follower>();
  let isReading = false;

  function next<Item>(follower: Follower, after: number, waitMs: number): Promise<HubTurn<Item>> {
    return new Promise((resolve) => {
      follower.after = after;
      if (follower.hasLeft) return resolve({ state: "left" });
      follower.wake = resolve as (turn: HubTurn<unknown>) => void; // its pages come from its own `read`
      if (follower.mustCheck) {
        follower.mustCheck = false;
        return settle(follower, { state: "check" });
      }
      follower.timer = setTimeout(() => settle(follower, { state: "quiet" }), waitMs).unref();
      if (follower.hasNews) news(follower);
    });
  }

  function settle(follower: Follower, turn: HubTurn<unknown>): void {
    const { wake } = follower;
    if (!wake) return;
    clearTimeout(follower.timer);
    follower.wake = null;
    due.delete(follower);
    wake(turn);
  }

  function news(follower: Follower): void {
    follower.hasNews = true;
    if (!follower.wake) return;
    due.add(follower);
    if (!isReading) {
      isReading = true;
      setImmediate(() => void readDue());
    }
  }

  /**
   * Reads for every follower that waits and has news, in one statement at a time that reads one kind of item.
   */
  async function readDue(): Promise<void> {
    while (due.size > 0) {
      const [first] = due;
      const group: Follower[] = [];
      for (const follower of due) {
        if (follower.read !== first!.read) continue;
        due.delete(follower);
        follower.hasNews = false;
        group.push(follower);
        if (group.length === MOST_AT_ONCE) break;
      }
      await readFor(first!.read, group);
    }
    isReading = false;
  }

  async function readFor(read: ReadPages<unknown>, group: Follower[]): Promise<void> {
    const places = new Map<string, number>();
    const asks: PageRequest[] = [];
    const placeOf = group.map(({ jobId, after }) => {
      const name = `${jobId} ${after}`;
      const known = places.get(name);
      if (known !== undefined) return known;
      places.set(name, asks.length);
      return asks.push({ jobId, after }) - 1;
    });
    try {
      const pages = await read(asks);
      for (const [position, follower] of group.entries()) deliver(follower, pages[placeOf[position]!]!);
    } catch (cause) {
      // The followers keep their position, and the next look tries again.
      for (const follower of group) follower.hasNews = true;
      log.warn({ err: cause, followers: group.length }, "followed jobs could not be read");
    }
  }

  function deliver(follower: Follower, page: Page<unknown>): void {
    if (page.items.length === 0 && !page.hasEnded) {
      if (follower.hasNews) news(follower); // news arrived during the read
      return;
    }
    if (!follower.wake || page.items.length >= PAGE_SIZE) follower.hasNews = true;
    settle(follower, { state: "page", page });
  }

  return { next, settle, news };
}

/** Keeps one listening connection open while there are followers, and opens it again after a loss. */
function earOf(listener: string, on: { notice(channel: string, payload: string): void; listening(): void }) {
  let ear: ReturnType<typeof openListener> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isNeeded = false;

  function listen(): void {
    isNeeded = true;
    clearTimeout(timer);
    timer = undefined;
    if (ear) return;
    const client = openListener(listener);
    ear = client;
    const lost = () => {
      if (ear !== client) return;
      ear = null;
      void client.end().catch(() => {});
      if (isNeeded) timer = setTimeout(listen, RECONNECT_MS).unref();
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ channel, payload = "" }) => on.notice(channel, payload));
    client
      .connect()
      .then(() => client.query(`LISTEN ${NEWS_CHANNEL}; LISTEN ${ACCESS_CHANGED}`))
      .then(() => {
        expectFollowers();
        on.listening();
      })
      .catch((cause) => {
        log.warn({ err: cause }, "the event listener lost its connection; followers poll until it is back");
        lost();
      });
  }

  function leaveSoon(): void {
    isNeeded = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const client = ear;
      ear = null;
      void client?.end().catch(() => {});
    }, LINGER_MS).unref();
  }

  return { listen, leaveSoon };
}

import { describe, expect, test } from "vitest";
import { HOUR_MS } from "@/server/platform/time/units";
import { bulk, gate, IDLE_COUNTS, mail, onBulk, onMail, soon, withWorld, world } from "../test/world";

withWorld();

describe("a wake", () => {
  test("a wake runs the flow of its event once, and leaves nothing behind", async () => {
    const ran: string[] = [];
    await world.start([
      onBulk(async (id, step) => step.run("work", async () => ran.push(`bulk ${id}`))),
      onMail(async (id) => void ran.push(`mail ${id}`)),
    ]);
    await world.send(bulk(1), mail(2), bulk(3));
    await world.idle();
    expect(ran.toSorted()).toEqual(["bulk 1", "bulk 3", "mail 2"]);
  });

  test("a wake that is sent again before its run has begun causes no second run", async () => {
    const ran: string[] = [];
    await world.send(bulk(1), bulk(1));
    for (let n = 0; n < 3; n++) await world.send(bulk(1));
    expect(await world.left()).toEqual({ ...IDLE_COUNTS, slots: 1, jobs: 1 });
    await world.pool.query("update run_slot set again = false"); // as if sent only once while it waited for a worker
    await world.start([onBulk(async (id) => void ran.push(id))]);
    await world.idle();
    expect(ran).toEqual(["1"]);
  });

  test("a wake that comes while its run is at work starts it again afterwards, never concurrently", async () => {
    const [started, hold] = [gate(), gate()];
    let most = 0;
    let atWork = 0;
    let begun = 0;
    await world.start([
      onBulk(async () => {
        most = Math.max(most, ++atWork);
        if (++begun === 1) {
          started.open();
          await hold.passed;
        }
        atWork--;
      }),
    ]);
    await world.send(bulk(1));
    await started.passed;
    for (let n = 0; n < 3; n++) await world.send(bulk(1));
    hold.open();
    await world.idle();
    expect({ begun, most }).toEqual({ begun: 2, most: 1 });
  });

  test("a wake of an event without a flow is refused", async () => {
    await expect(world.send({ name: "unknown/event", data: {} })).rejects.toThrow(
      'No flow is woken by "unknown/event"',
    );
  });
});

describe("a run that throws", () => {
  test("a run that throws is repeated at once, then retried until it succeeds", {
    tags: "long",
  }, async () => {
    let tries = 0;
    const pauses: number[] = [];
    const backoffMs = (retry: number) => pauses.push(retry) && 0;
    const flow = onBulk(async () => {
      if (++tries < 6) throw new Error("not yet");
    });
    await world.start([flow], { backoffMs });
    await world.send(bulk(1));
    await world.idle();
    expect({ tries, pauses }).toEqual({ tries: 6, pauses: [1] }); // four attempts in one turn, a pause, two more
  });

  test("a run that throws is given up after its retries, and a new wake runs it again", {
    tags: "long",
  }, async () => {
    let tries = 0;
    const flow = onBulk(async () => {
      tries++;
      throw new Error("never");
    }, 1);
    await world.start([flow]);
    await world.send(bulk(1));
    await world.idle();
    expect(tries).toBe(8);
    await world.send(bulk(1));
    await world.idle();
    expect(tries).toBe(16);
  });

  test("a run that throws gives up its turn between retries", { tags: "long" }, async () => {
    const ran: string[] = [];
    const flow = onMail(async (id) => {
      ran.push(id);
      if (Number(id) < 4) throw new Error("not yet");
    });
    await world.start([flow], { backoffMs: () => HOUR_MS });
    await world.send(...[0, 1, 2, 3].map(mail));
    await soon(() => world.left()).toEqual({ ...IDLE_COUNTS, jobs: 4, later: 4 });
    await world.send(mail(4));
    await soon(() => ran).toContain("4");
  });
});

describe("a run that sleeps", () => {
  test("a short sleep continues in place, with the run's variables", async () => {
    const at: number[] = [];
    await world.start([
      onBulk(async (_, step) => {
        at.push(performance.now());
        await step.sleep("nap", 100);
        at.push(performance.now());
      }),
    ]);
    await world.send(bulk(1));
    await world.idle();
    expect(at).toHaveLength(2);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(98);
  });

  test("a longer sleep gives up its turn, and the run starts again on time under the same run id", async () => {
    const begun: { id: string; at: number }[] = [];
    await world.start([
      onBulk(async (_, step) => {
        begun.push({ id: step.runId, at: performance.now() });
        if (begun.length === 1) await step.sleep("wait", 700);
      }),
    ]);
    await world.send(bulk(1));
    await soon(() => world.left()).toMatchObject({ slots: 0, jobs: 1 });
    await world.idle();
    expect(begun.map(({ id }) => id)).toEqual(["bulk/accepted:1", "bulk/accepted:1"]);
    const slept = begun[1]!.at - begun[0]!.at;
    expect(slept).toBeGreaterThanOrEqual(695);
    expect(slept).toBeLessThan(1_500);
  });

  test("a very long sleep survives a change of worker, and a wake starts the run at once", async () => {
    let begun = 0;
    const flow = onBulk(async (_, step) => {
      if (++begun < 3) await step.sleep("long", 51 * HOUR_MS);
    });
    const engine = await world.start([flow]);
    await world.send(bulk(1));
    await soon(() => world.left()).toEqual({ ...IDLE_COUNTS, jobs: 1, later: 1 });
    const { rows } = await world.pool.query(
      "select run_at - now() as rest from graphile_worker.jobs where locked_at is null",
    );
    expect(rows[0].rest).toMatchObject({ days: 2, hours: 2, minutes: 59 });
    await engine.stop();
    expect(await world.left()).toEqual({ ...IDLE_COUNTS, jobs: 1, later: 1 });
    await world.start([flow]);
    await world.skipTime();
    await soon(() => begun).toBe(2);
    await soon(() => world.left()).toEqual({ ...IDLE_COUNTS, jobs: 1, later: 1 });
    await world.send(bulk(1));
    await world.idle();
    expect(begun).toBe(3);
  });

  test("a run that was woken before it sleeps starts again at once", async () => {
    let begun = 0;
    await world.start([
      onBulk(async (id, step) => {
        if (++begun > 1) return;
        await world.send(bulk(id));
        await step.sleep("long", HOUR_MS);
      }),
    ]);
    await world.send(bulk(1));
    await world.idle();
    expect(begun).toBe(2);
  });

  test("a sleep is not seen by the flow's own error handling", async () => {
    const seen: string[] = [];
    await world.start([
      onBulk(async (_, step) => {
        try {
          if (seen.length === 0) seen.push("begun");
          else return;
          await step.sleep("long", HOUR_MS);
        } catch {
          seen.push("caught");
        } finally {
          seen.push("finally");
        }
      }),
    ]);
    await world.send(bulk(1));
    await soon(() => world.left()).toEqual({ ...IDLE_COUNTS, jobs: 1, later: 1 });
    expect(seen).toEqual(["begun"]);
  });
});

import * as credentials from "@/server/domain/connections";
import type { Clock } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { system } from "@/testing/tenants";
import { SECRET } from "@/testing/vault";
import { makeProject } from "@/testing/world";

/* Test projects whose clock skips minutes of waiting. */

/** The default time limit of one submission. */
export const TIMEOUT_MS = 600_000;

/**
 * Waits between submissions pass at once. The time limit of a submission passes only when a test calls
 * `pass`.
 */
function patientClock(startedAt: number) {
  let passedMs = 0;
  const alarms = new Set<{ at: number; call: () => void }>();
  const pass = (ms: number) => {
    passedMs += ms;
    for (const alarm of [...alarms].filter(({ at }) => at <= passedMs)) {
      alarms.delete(alarm);
      alarm.call();
    }
  };
  const clock: Clock = {
    now: () => new Date(startedAt + passedMs),
    elapsedMs: () => passedMs,
    after(ms, call) {
      const alarm = { at: passedMs + ms, call };
      alarms.add(alarm);
      if (ms < TIMEOUT_MS) setImmediate(() => alarms.has(alarm) && pass(alarm.at - passedMs));
      return () => alarms.delete(alarm);
    },
  };
  return { clock, pass };
}

/** Connects a project to an OpenAI server at this address. */
export async function connectOpenAi(organizationId: string, projectId: string, url: string): Promise<void> {
  const account = { provider: "openai", secret: SECRET, label: "faults" };
  const place = { provider: "openai", projectId, environment: "development", replaces: true };
  const { credentialId } = await credentials.createCredential(system, organizationId, account, {
    places: [place],
  });
  await pool.query("UPDATE credential SET base_url = $2 WHERE id = $1", [credentialId, url]);
}

/** A project whose OpenAI server is at this address and whose clock is a `patientClock`. */
export async function projectAt(url: string) {
  const { ctx, organizationId, projectId } = await makeProject();
  await connectOpenAi(organizationId, projectId, url);
  const time = patientClock(ctx.now().getTime());
  return { ...time, ctx: { ...ctx, now: time.clock.now } };
}
export type PatientProject = Awaited<ReturnType<typeof projectAt>>;

import { randomBytes } from "node:crypto";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as webhooks from "@/server/domain/webhooks";
import { type Received, startReceiver } from "@/testing/receiver";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";

export const SECRET = `whsec_${randomBytes(24).toString("base64")}`;
export const QUESTION = { messages: [{ role: "user", content: "What is a webhook?" }] };

export let project: TestProject;
export let receiver: Awaited<ReturnType<typeof startReceiver>>;

export async function openProject(): Promise<void> {
  [project, receiver] = await Promise.all([makeProject(), startReceiver()]);
}

type Wanted = { url?: string; secret?: string; eventTypes?: string[]; enabled?: boolean };
export function endpoint({ url = receiver.url, secret = SECRET, enabled = true, ...more }: Wanted = {}) {
  return webhooks.createEndpoint(project.ctx, { url, secret, enabled, ...more } as Parameters<
    typeof webhooks.createEndpoint
  >[1]); // tests give event types as plain strings
}

export async function submitted(ctx: Ctx = project.ctx): Promise<string> {
  return (await jobs.submit(ctx, "text.general.fast.v1", QUESTION)).jobId;
}

export async function ended(): Promise<string> {
  const jobId = await submitted();
  await jobs.run(project.ctx, jobId, inlineStep(project.clock));
  return jobId;
}

export const announce = () => jobs.announce(project.ctx, project);

export async function listed(query: { endpointId?: string; jobId?: string } = {}) {
  return (await webhooks.deliveries(project.ctx, { limit: 200, ...query })).items.toReversed();
}

/** Runs the flow of every pending delivery, as the engine does. */
export async function deliverAll(): Promise<void> {
  await announce();
  for (const { deliveryId, state } of await listed()) {
    if (state === "pending") await webhooks.deliver(project.ctx, deliveryId, inlineStep(project.clock));
  }
}

export const bodiesOf = (received: Received[]) => received.map(({ body }) => JSON.parse(body));

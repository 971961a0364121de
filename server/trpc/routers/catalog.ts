import { tracked } from "@trpc/server";
import { z } from "zod";
import {
  CapabilityDescriptor,
  CapabilityRef,
  CapabilitySummary,
  ExecutionTargetList,
  ListCapabilities,
} from "@/server/contract/capabilities";
import { RawEnvelope } from "@/server/contract/envelope";
import { ExecutionRef, InvocationResult, Job, ProjectRef } from "@/server/contract/jobs";
import { RetailQuote } from "@/server/contract/pricing";
import * as catalog from "@/server/domain/catalog";
import * as jobs from "@/server/domain/jobs";
import * as quotes from "@/server/domain/quotes";
import { human, router } from "../init";
import { does, reads } from "../of";
import { withoutPrivateContent } from "./jobs";

/** A capability as the catalog's page shows it. */
const Entry = CapabilitySummary.extend({ category: z.string(), price: z.string(), runsNow: z.boolean() });

const InProject = CapabilityRef.extend(ProjectRef.shape);
const Request = InProject.extend({ body: RawEnvelope });
type Request = z.output<typeof Request>;

/** The playground's envelope always runs in the project of its page, whatever the envelope says. */
const inProject = ({ project_id, body }: Request): RawEnvelope => ({
  ...body,
  context: { ...(typeof body.context === "object" ? body.context : {}), projectId: project_id },
});

function toEntry(
  capability: ReturnType<typeof catalog.getCapability>,
  connections: catalog.Viewer["connections"],
): z.input<typeof Entry> {
  const { targets } = catalog.executionTargets(capability, connections);
  return {
    ...catalog.toCapabilitySummary(capability),
    category: capability.category,
    price: catalog.describeCapability(capability, true, connections).pricing.display,
    // Without targets it runs in this process.
    runsNow: targets.length === 0 || targets.some(({ availability }) => availability.available),
  };
}

export const catalogRouter = router({
  list: reads(
    ListCapabilities.pick({ q: true }).extend(ProjectRef.shape),
    z.array(Entry),
    async (ctx, input) => {
      const { connections } = await catalog.viewerOf(ctx, { projectId: input.project_id });
      return catalog.matchingCapabilities(input.q).map((capability) => toEntry(capability, connections));
    },
  ),
  describe: reads(InProject, CapabilityDescriptor, async (ctx, input) => {
    const { connections } = await catalog.viewerOf(ctx, { projectId: input.project_id });
    return catalog.describeCapability(catalog.getCapability(input.capability_key), true, connections);
  }),
  targets: reads(InProject, ExecutionTargetList, async (ctx, input) => {
    const { connections } = await catalog.viewerOf(ctx, { projectId: input.project_id });
    return catalog.executionTargets(catalog.getCapability(input.capability_key), connections);
  }),
  /** Stores a quote and spends nothing. A mutation (POST), because a body may be too long for a URL. */
  quote: does(Request, RetailQuote, (ctx, input) =>
    quotes.quote(ctx, input.capability_key, inProject(input)),
  ),
  invoke: does(Request, InvocationResult, (ctx, input) =>
    jobs.invoke(ctx, input.capability_key, inProject(input)),
  ),
  submit: does(Request, Job, async (ctx, input) =>
    withoutPrivateContent(await jobs.submit(ctx, input.capability_key, inProject(input))),
  ),
  /** The frames of a streaming execution as they are written; `lastEventId` resumes after one. */
  frames: human
    .input(
      ExecutionRef.extend({
        lastEventId: z
          .string()
          .regex(/^\d{1,10}$/)
          .optional(),
      }),
    )
    .subscription(async function* ({ ctx, input, signal }) {
      const reader = signal ? { ...ctx, signal: () => signal } : ctx;
      for await (const page of await jobs.followFrames(reader, input.execution_id, input.lastEventId))
        for (const frame of page.items) yield tracked(String(frame.id), frame);
    }),
});

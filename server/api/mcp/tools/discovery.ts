import { z } from "zod";
import {
  CapabilityDescriptor,
  CapabilitySummary,
  ResolutionRequest,
  ResolutionResponse,
} from "@/server/contract/capabilities";
import { JsonObject } from "@/server/contract/common";
import { RetailQuote } from "@/server/contract/pricing";
import { CapabilityRequest, CapabilityRequestBody, CommissionQuote } from "@/server/contract/requests";
import { SessionContext } from "@/server/contract/session";
import * as catalog from "@/server/domain/catalog";
import { sessionContext } from "@/server/domain/organizations";
import * as quotes from "@/server/domain/quotes";
import * as requests from "@/server/domain/requests";
import { tool } from "../define";

const ProjectId = z.string().min(1).max(64).optional().describe("For a key of a whole organization.");
export const CapabilityKey = z.string().min(1).max(128);
/** Why the schema of a submission is open. */
export const OPEN_REQUEST =
  "request: each capability has fields of its own; describe_capability has their schema.";
export const Envelope = JsonObject.describe(
  "The body of a submission: `input`, and beside it `execution`, `budget`, `sampling`, `tags`, `metadata`, `context`. describe_capability has the schema of the input.",
);

const status = tool({
  name: "status",
  title: "Who am I, and where do I work?",
  description: "The organization, project and environment of this key.",
  scope: "diagnostics:read",
  effect: "reads",
  input: z.strictObject({ project_id: ProjectId }),
  output: SessionContext,
  run: (ctx, { project_id }) => sessionContext(ctx, project_id),
});

const search = tool({
  name: "search_capabilities",
  title: "Search the catalog",
  description: "Capabilities for some words, best first; all of them without any.",
  effect: "reads",
  input: z.strictObject({ query: z.string().max(500).optional() }),
  output: z.object({ capabilities: z.array(CapabilitySummary) }),
  run: async (_ctx, { query }) => ({
    capabilities: catalog
      .matching(query)
      .map((capability) => CapabilitySummary.parse(catalog.toSummary(capability))),
  }),
});

const describe = tool({
  name: "describe_capability",
  title: "Describe a capability",
  description: "Its input and output schemas, limits, prices, models' features and examples.",
  effect: "reads",
  input: z.strictObject({ capability_key: CapabilityKey, project_id: ProjectId }),
  output: CapabilityDescriptor,
  async run(ctx, { capability_key, project_id }) {
    const viewer = await catalog.viewerOf(ctx, { projectId: project_id });
    const { body } = await catalog.publishedDescriptor(capability_key, viewer);
    return JSON.parse(Buffer.from(body).toString("utf8"));
  },
});

const resolve = tool({
  name: "resolve_capability",
  title: "Find the capability for an outcome",
  description: "Ranks the catalog by an intent in plain words, and says whether it can run now.",
  effect: "reads",
  input: z.strictObject(ResolutionRequest.shape),
  output: ResolutionResponse,
  run: (ctx, input) => catalog.resolve(ctx, input),
});

const quote = tool({
  name: "quote_capability",
  title: "Price a request",
  description:
    "What it will cost at most. Reserves and charges nothing; the quote's id may be given to submit_job.",
  scope: "capabilities:run",
  effect: "reads",
  open: OPEN_REQUEST,
  input: z.strictObject({ capability_key: CapabilityKey, request: Envelope, project_id: ProjectId }),
  output: RetailQuote,
  run: (ctx, { capability_key, request, project_id }) =>
    quotes.quote(ctx, capability_key, request, project_id),
});

const requestCapability = tool({
  name: "request_capability_quote",
  title: "Ask for a capability that is missing",
  description:
    "Files a need and submits it for review by people, who may answer with a quote. Only for what resolve_capability answers with no_match_requestable. It binds nobody and pays nothing.",
  scope: "requests:write",
  effect: "writes",
  open: "request: what is proposed, its constraints and its acceptance cases are about whatever the need is.",
  input: z.strictObject({ request: CapabilityRequestBody, idempotency_key: z.string().max(255).optional() }),
  output: CapabilityRequest,
  async run(ctx, { request, idempotency_key }) {
    const { id } = await requests.create(ctx, request, idempotency_key);
    return requests.submit(ctx, id);
  },
});

const requestQuote = tool({
  name: "get_capability_request_quote",
  title: "Read the quote of a requested capability",
  description: "The price of making it. Only a person can pay it, at approval.approvalUrl.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ request_id: z.string().min(1).max(64) }),
  output: CommissionQuote,
  run: (ctx, { request_id }) => requests.quote(ctx, request_id),
});

export const discovery = [status, search, describe, resolve, quote, requestCapability, requestQuote];

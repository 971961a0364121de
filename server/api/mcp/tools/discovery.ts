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

const ProjectId = z
  .string()
  .min(1)
  .max(64)
  .optional()
  .describe("Required for a key that is not bound to a project.");
export const CapabilityKey = z.string().min(1).max(128);
/** For tools whose `request` accepts any fields: where these are documented. */
export const OPEN_REQUEST =
  "request: each capability has its own fields; describe_capability returns their schema.";
export const Envelope = JsonObject.describe(
  "The request body: `input`, and optionally `execution`, `budget`, `sampling`, `tags`, `metadata` and `context`. describe_capability returns the schema of the input.",
);

const status = tool({
  name: "status",
  title: "Get session context",
  description: "Returns the organization, project and environment of this key.",
  scope: "diagnostics:read",
  effect: "reads",
  input: z.strictObject({ project_id: ProjectId }),
  output: SessionContext,
  run: (ctx, { project_id }) => sessionContext(ctx, project_id),
});

const search = tool({
  name: "search_capabilities",
  title: "Search the catalog",
  description:
    "Returns the capabilities that match the query, best match first, or all capabilities without a query.",
  effect: "reads",
  input: z.strictObject({ query: z.string().max(500).optional() }),
  output: z.object({ capabilities: z.array(CapabilitySummary) }),
  run: async (_ctx, { query }) => ({
    capabilities: catalog
      .matchingCapabilities(query)
      .map((capability) => CapabilitySummary.parse(catalog.toCapabilitySummary(capability))),
  }),
});

const describe = tool({
  name: "describe_capability",
  title: "Describe a capability",
  description:
    "Returns a capability's input and output schemas, limits, prices, model features and examples.",
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
  title: "Find capabilities for an outcome",
  description: "Ranks the catalog by an intent in plain words, and reports whether each match can run now.",
  effect: "reads",
  input: z.strictObject(ResolutionRequest.shape),
  output: ResolutionResponse,
  run: (ctx, input) => catalog.resolve(ctx, input),
});

const quote = tool({
  name: "quote_capability",
  title: "Price a request",
  description:
    "Returns the maximum cost. Reserves and charges nothing. You can pass the quote's id to submit_job.",
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
  title: "Request a missing capability",
  description:
    "Creates a capability request and submits it for review by people, who may respond with a quote. Use it only after resolve_capability returned no_match_requestable. It is not binding and costs nothing.",
  scope: "requests:write",
  effect: "writes",
  open: "request: the proposal, its constraints and its acceptance cases depend on the need.",
  input: z.strictObject({ request: CapabilityRequestBody, idempotency_key: z.string().max(255).optional() }),
  output: CapabilityRequest,
  async run(ctx, { request, idempotency_key }) {
    const { id } = await requests.create(ctx, request, idempotency_key);
    return requests.submit(ctx, id);
  },
});

const requestQuote = tool({
  name: "get_capability_request_quote",
  title: "Get a commission quote",
  description:
    "Returns the price for building a requested capability. Only a person can pay it, at approval.approvalUrl.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ request_id: z.string().min(1).max(64) }),
  output: CommissionQuote,
  run: (ctx, { request_id }) => requests.quote(ctx, request_id),
});

export const discoveryTools = [status, search, describe, resolve, quote, requestCapability, requestQuote];

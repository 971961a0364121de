import {
  CapabilityRequest,
  CapabilityRequestBody,
  CommissionQuote,
  ListRequests,
  RequestPage,
} from "@/server/contract/requests";
import * as requests from "@/server/domain/requests";
import { byKeysAndPeople, operations } from "./define";

const write = operations("Capability requests", byKeysAndPeople("requests:write"));
const read = operations("Capability requests", byKeysAndPeople("jobs:read"));

const bodyLimit = requests.MOST_CONTENT_BYTES;

export const createCapabilityRequest = write.post("/v1/capability-requests", {
  summary: "Create a capability request",
  description:
    "Requests a capability that does not exist. Resolve the intent first and file a request only if the outcome is `no_match_requestable`. The request is a draft until you submit it. Everything you send is kept, including your own fields, and fixed by `requestHash`, the SHA-256 of the RFC 8785 form of `revision.content`. Repeating the request with the same `idempotencyKey` (in the body or as the Idempotency-Key header) returns the first one.",
  bodyLimit,
  body: CapabilityRequestBody,
  example: {
    summary: "Maps of the sea floor",
    need: "A depth map of a given area, as GeoTIFF.",
    acceptanceCases: [{ input: { area: "North Sea" }, expected: "A depth for each square kilometre" }],
  },
  output: CapabilityRequest,
  errors: ["PROJECT_REQUIRED", "IdempotencyConflict"],
  idempotent: true,
  run: (ctx, { body, idempotencyKey }) => requests.create(ctx, body, idempotencyKey),
});

export const listCapabilityRequests = read.get("/v1/capability-requests", {
  summary: "List capability requests, newest first",
  query: ListRequests,
  output: RequestPage,
  run: (ctx, { query }) => requests.list(ctx, query),
});

export const getCapabilityRequest = read.get("/v1/capability-requests/{request_id}", {
  summary: "Retrieve a capability request, with its status, wording and latest review",
  output: CapabilityRequest,
  run: (ctx, { request_id }) => requests.get(ctx, request_id),
});

export const reviseCapabilityRequest = write.post("/v1/capability-requests/{request_id}/revisions", {
  summary: "Revise a capability request",
  description:
    "Send the whole body, not only the changes. The request becomes a draft again and must be submitted again; a quote for an earlier revision can no longer be paid. A declined or paid request cannot be revised (RequestStateConflict).",
  bodyLimit,
  body: CapabilityRequestBody,
  example: {
    summary: "Maps of the sea floor",
    need: "A depth map of a given area, as GeoTIFF.",
    acceptanceCases: [{ input: { area: "North Sea" }, expected: "A depth for each square kilometre" }],
  },
  output: CapabilityRequest,
  errors: ["RequestStateConflict", "PolicyRejected"],
  run: (ctx, { request_id, body }) => requests.revise(ctx, request_id, body),
});

export const submitCapabilityRequest = write.post("/v1/capability-requests/{request_id}/submit", {
  summary: "Submit a capability request for review",
  description:
    "Submits the current revision for review by people. Needs no body. A request that is already submitted is returned unchanged.",
  output: CapabilityRequest,
  errors: ["RequestStateConflict"],
  run: (ctx, { request_id }) => requests.submit(ctx, request_id),
});

export const getCommissionQuote = read.get("/v1/capability-requests/{request_id}/quote", {
  summary: "Retrieve the commission quote of a capability request",
  description:
    "The price for building the capability. It cannot be used to run anything, and only a person of the organization can pay it, at `approval.approvalUrl`. Returns NotFound until a quote is issued, and Gone once it has expired (14 days after it was issued) or was superseded by a revision or a newer quote; `details.reason` is `expired` or `superseded`.",
  output: CommissionQuote,
  errors: ["Gone"],
  run: (ctx, { request_id }) => requests.quote(ctx, request_id),
});

import { endpoint } from "@/server/api/endpoint";
import {
  CapabilityRequest,
  CapabilityRequestBody,
  CommissionQuote,
  ListRequests,
  RequestPage,
  RequestRef,
} from "@/server/contract/requests";
import * as requests from "@/server/domain/requests";

const tags = ["Capability requests"];
const auth = ["service_principal", "human_session"] as const;
const bodyLimit = requests.MOST_CONTENT_BYTES;

export const createCapabilityRequest = endpoint({
  method: "POST",
  path: "/v1/capability-requests",
  summary: "File a need for a capability that does not exist",
  description:
    "Resolve first: only `no_match_requestable` leads here. The request is a draft until it is submitted. All that is sent is kept, members of your own too, and frozen under `requestHash`: the SHA-256 of the RFC 8785 form of `revision.content`. An `idempotencyKey` (here or as the Idempotency-Key header) answers the same request sent twice with the first one.",
  tags,
  auth,
  scope: "requests:write",
  bodyLimit,
  body: CapabilityRequestBody,
  output: CapabilityRequest,
  errors: ["PROJECT_REQUIRED", "IdempotencyConflict"],
  idempotent: true,
  run: (ctx, { body, idempotencyKey }) => requests.create(ctx, body, idempotencyKey),
});

export const listCapabilityRequests = endpoint({
  method: "GET",
  path: "/v1/capability-requests",
  summary: "List capability requests, newest first",
  tags,
  auth,
  scope: "jobs:read",
  query: ListRequests,
  output: RequestPage,
  errors: [],
  run: (ctx, { query }) => requests.list(ctx, query),
});

export const getCapabilityRequest = endpoint({
  method: "GET",
  path: "/v1/capability-requests/{request_id}",
  summary: "Read a capability request: where it is, its wording, and what the reviewers last said",
  tags,
  auth,
  scope: "jobs:read",
  params: RequestRef,
  output: CapabilityRequest,
  errors: ["NotFound"],
  run: (ctx, { params }) => requests.get(ctx, params.request_id),
});

export const reviseCapabilityRequest = endpoint({
  method: "POST",
  path: "/v1/capability-requests/{request_id}/revisions",
  summary: "Reword a capability request",
  description:
    "The whole body again, not a change of it. The request is a draft again and has to be submitted; a quote of the old wording can no longer be paid. What has been declined or paid is not reworded (RequestStateConflict).",
  tags,
  auth,
  scope: "requests:write",
  bodyLimit,
  params: RequestRef,
  body: CapabilityRequestBody,
  output: CapabilityRequest,
  errors: ["NotFound", "RequestStateConflict", "PolicyRejected"],
  run: (ctx, { params, body }) => requests.revise(ctx, params.request_id, body),
});

export const submitCapabilityRequest = endpoint({
  method: "POST",
  path: "/v1/capability-requests/{request_id}/submit",
  summary: "Submit the current wording for review by people",
  description: "Needs no body. What has been submitted already is answered as it is.",
  tags,
  auth,
  scope: "requests:write",
  params: RequestRef,
  output: CapabilityRequest,
  errors: ["NotFound", "RequestStateConflict"],
  run: (ctx, { params }) => requests.submit(ctx, params.request_id),
});

export const getCommissionQuote = endpoint({
  method: "GET",
  path: "/v1/capability-requests/{request_id}/quote",
  summary: "Read the commission quote of a capability request",
  description:
    "A price for making the capability; no execution can name it. Only a person of the organization can pay it, at `approval.approvalUrl`. NotFound before there is one; Gone once it has expired, 14 days after it was issued, or its wording was replaced: `details.reason` is `expired` or `superseded`.",
  tags,
  auth,
  scope: "jobs:read",
  params: RequestRef,
  output: CommissionQuote,
  errors: ["NotFound", "Gone"],
  run: (ctx, { params }) => requests.quote(ctx, params.request_id),
});

export type { AdapterUpload } from "./adapters";
export type { Artifact, Download } from "./artifacts";
export { type Client, type ClientOptions, createClient, type JobEvent } from "./client";
export type { Schemas } from "./core";
export {
  AwaitingApprovalError,
  CapstanError,
  type ErrorFacts,
  IntegrityError,
  RunFailedError,
  WaitTimeoutError,
  WebhookSignatureError,
} from "./errors";
export type { FollowOptions, StreamFrame } from "./events";
export type { components, operations, paths } from "./openapi.gen";
export type { RequestOptions, Run, RunOptions, WaitOptions } from "./run";
export type { StreamOptions, StreamRun } from "./stream";
export { newIdempotencyKey, type RetryOptions } from "./transport";
export type { KeySet, Verification, Witnesses } from "./verify";
export { verifyWebhook, type WebhookDelivery, type WebhookEvent } from "./webhooks";

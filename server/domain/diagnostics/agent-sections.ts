import { EXIT_CODES } from "@/server/contract/cli";
import { TERMINAL } from "@/server/contract/jobs";
import {
  BULK_ITEMS,
  BULK_LANES,
  PINNED_ADMISSION,
  PINNED_TIMEOUT,
  START_WINDOW_SECONDS,
} from "@/server/contract/pinned";
import { SERVICE_FEE_BPS } from "@/server/contract/pricing";
import { REQUEST_VERSION, RequestNextAction } from "@/server/contract/requests";
import { allCapabilities, PRICING_VERSION } from "@/server/domain/catalog";
import { allPlans } from "@/server/domain/plans";
import type { Json } from "@/server/platform/durable/step";
import { isSandboxOn, publicUrl } from "@/server/platform/settings/env";
import { VERSION } from "@/server/platform/settings/version";

const POLL = { intervalSeconds: 4, timeoutSeconds: 600 };
const PINNED_POLL = { intervalSeconds: 4, timeoutSeconds: 3_600 };
/** Capabilities that are shown first to a new caller. */
const FEATURED = [
  "text.general.fast.v1",
  "text.structured.generation.v1",
  "image.generate.v1",
  "image.edit.v1",
  "video.generate.v1",
  "compute.evaluate.v1",
  "document.verify.v1",
];
const summaries = (keys?: readonly string[]) =>
  allCapabilities
    .filter(({ key }) => !keys || keys.includes(key))
    .map(({ key, title, modes }) => ({ key, title, executionModes: [...modes] }));

/** The sections of the document, built on request. A test checks every method and path in them against our endpoints. */
export const SECTIONS = {
  product: () => ({ name: "Capstan", version: VERSION, baseUrl: publicUrl, apiBase: `${publicUrl}/v1` }),
  profiles: () => ({
    compact: "Enough to find and run a capability, in few tokens.",
    integration: "What a program needs: discovery, jobs, pinned executions, evidence and interfaces.",
    full: "Everything.",
  }),
  agentOperating: () => ({
    loop: ["discover", "quote", "run", "wait", "download", "verify"],
    rules: [
      "Choose a capability by what it does. Do not choose a provider unless a person did.",
      "Send an idempotency key with every request that runs something. Repeat a request with the same key, never with a new one.",
      "After an error, read code, message and, on 429 and 5xx, detail.retryable and detail.nextAction before you send anything again. docsUrl explains the code.",
      "Only a person can approve jobs and pay commission quotes.",
    ],
  }),
  agentPack: () => ({
    documents: ["openapi.json", "docs", "docs/index.md", "llms.txt"].map((name) => `${publicUrl}/${name}`),
  }),
  asyncJobs: () => ({
    submit: "POST /v1/capabilities/{capability_key}/jobs",
    poll: "GET /v1/jobs/{job_id}",
    events: "GET /v1/jobs/{job_id}/events",
    result: "GET /v1/jobs/{job_id}/result",
    receipt: "GET /v1/jobs/{job_id}/receipt",
    download: "GET /v1/jobs/{job_id}/artifacts/{artifact_id}",
    cancel: "POST /v1/jobs/{job_id}/cancel",
    discovery: ["GET /v1/projects/{project_id}/jobs", "GET /v1/jobs"],
    idempotencyKeyRequired: false,
    idempotencyKeyRecommended: true,
    jobIdIsNavigationKey: true,
    jobWait: {
      waiting: ["queued", "running", "canceling"],
      terminal: [...TERMINAL],
      success: ["succeeded"],
      failure: ["failed", "canceled"],
      humanGate: ["awaiting_approval", "needs_attention"],
      nextActions: ["poll", "download_artifacts", "retry_new", "present_approval", "inspect_error", "stop"],
      ...POLL,
      unknownStatusKeepsPolling: true,
    },
    terminalJobFields: ["status", "artifacts", "typedOutput", "receiptId", "error", "charge", "actualCost"],
    waitSeconds: {
      parameter: "waitSeconds",
      most: 30,
      instead: "of polling: the answer comes when the status changes",
    },
    notes: [
      "GET /v1/jobs/{job_id}?waitSeconds=30 replaces polling. Without it, prefer pollAfterSeconds of the response over the interval given here.",
      "charge.chargedMicros is what you pay, with the service fee. actualCost and providerCostMicros are what the provider's work costs, without it.",
      "A job in a status of humanGate waits for a person: show it to one instead of polling.",
    ],
  }),
  authentication: () => ({
    scheme: "bearer",
    header: "Authorization: Bearer <API_KEY>",
    keyForm: "cap_<environment>_…",
    anonymous: [
      "GET /v1/capabilities",
      "POST /v1/capabilities/resolve",
      "GET /v1/capabilities/{capability_key}",
      "GET /v1/capabilities/{capability_key}/execution-targets",
      "GET /v1/agent-context",
    ],
    boundKeys: "A key bound to a project needs no context.projectId; any other key must send one.",
    managementKeys: `A management key creates keys, budgets, connections and webhooks over /v1 and runs nothing; an owner of the organization creates it in the panel (${publicUrl}/docs/guides/set-up-projects-by-machine.md).`,
  }),
  bootstrap: () => ({
    whoAmI: "GET /v1/diagnostics/session",
    where: "GET /v1/session/context",
    ready: "GET /v1/diagnostics/readiness",
    keysAreMadeAt: `${publicUrl}/`,
  }),
  capabilities: () => summaries(),
  capabilityDiscovery: () => ({
    authority: "GET /v1/capabilities",
    list: "GET /v1/capabilities",
    resolve: "POST /v1/capabilities/resolve",
    resolveBody: { intent: "what it is to do, in words" },
    describe: "GET /v1/capabilities/{capability_key}",
    steps: {
      find: "the list with ?view=summary: key, title, description and modes of each",
      read: "one capability with ?view=brief: input schema, limits, price and a request for each mode, in under 4 KB",
      choose:
        "GET /v1/capabilities/{capability_key}/execution-targets?view=brief; send one as execution.executionConstraints.providerPin",
      whole: "GET /v1/capabilities/{capability_key}/openapi.json",
      tasks: "GET /docs/start/first-tasks.md: one request for each of ten first tasks",
    },
    quotePattern: "POST /v1/capabilities/{capability_key}/quote",
    estimatePattern: "POST /v1/capabilities/{capability_key}/estimate",
    catalogPricesNotAuthoritative: true,
    estimateDoesNotSpend: true,
    pricingIncluded: true,
    retailQuoteId: "quote_…; use it as execution.quoteId",
    commissionQuoteId: "cq_…; only a person can pay it, and it runs nothing",
    semantics: "A quote is bound to its input; a different input is refused with QUOTE_MISMATCH.",
  }),
  catalogNotice: () => ({ pricingVersion: PRICING_VERSION, capabilities: allCapabilities.length }),
  cliExitCodes: () => ({ available: true, command: "capstan", codes: { ...EXIT_CODES } }),
  configuration: () => ({
    environmentVariables: { CAPSTAN_BASE_URL: publicUrl, CAPSTAN_API_KEY: "an API key" },
    contentType: "application/json",
  }),
  credentialSafety: () => ({
    agentsNeverTakeProviderSecrets: true,
    connectByPerson: "CONNECTION_REQUIRED has details.connectUrl; show it to a person.",
    keysAreSecrets: "Never put an API key into a prompt, an input, a tag or metadata.",
  }),
  externalPaths: () => ({ openapi: "/openapi.json", docs: "/docs", health: "/healthz", ready: "/readyz" }),
  featuredCapabilities: () => summaries(FEATURED),
  integrationPolicy: () => ({
    unknownFields:
      "Responses may gain fields; ignore unknown ones. Requests with unknown fields are refused.",
    ids: "The prefix of an id names its kind. Treat the rest as opaque.",
    money: "amountMicros is authoritative; other amount fields are for display.",
  }),
  interactionSurfaces: () => ({ available: false, person: publicUrl }),
  invocation: () => ({
    sync: "POST /v1/capabilities/{capability_key}/invoke",
    durable: "POST /v1/capabilities/{capability_key}/jobs",
    stream:
      "executionMode Stream together with Accept: text/event-stream, if the capability supports invoke_stream. Without that Accept header, read GET /v1/executions/{execution_id}/events.",
    envelope: ["context", "input", "execution", "idempotencyKey", "tags", "metadata", "externalRef"],
    errors: {
      shape:
        "{code, message, requestId, docsUrl, detail: {code, message, details}}; of fields that are refused, detail is a list of {loc, msg, type}",
      wrongDoor: ["USE_JOBS", "USE_INVOKE"],
    },
  }),
  launchScope: () => ({ capabilityKeys: allCapabilities.map(({ key }) => key).sort() }),
  managedInference: () => ({ available: true, serviceFeeBps: SERVICE_FEE_BPS, pinned: false }),
  managedSmoke: () => ({ state: "GET /v1/diagnostics/providers", field: "managedSmokeAvailable" }),
  mcp: () => ({
    url: `${publicUrl}/mcp`,
    transport: "streamable-http",
    authentication: "bearer",
    sessions: false,
    paysOrApproves: false,
  }),
  missingCapabilities: () => ({
    requestEndpoint: "POST /v1/capability-requests",
    submit: "POST /v1/capability-requests/{request_id}/submit",
    nextActions: RequestNextAction.options,
    requestSchema: REQUEST_VERSION,
    requestable: true,
    quoteIsNonBinding: true,
    commissionRequiresHumanApproval: true,
    commissionQuoteIsNotExecutionQuote: true,
    guidance:
      "Resolve first. If nothing fits, create a request with acceptance cases that a person can check.",
  }),
  onboarding: () => ({ signIn: `${publicUrl}/sign-in`, connections: "GET /v1/diagnostics/providers" }),
  openaiCompatibleIngress: () => ({
    create: "POST /v1/responses",
    chat: "POST /v1/chat/completions",
    models: "GET /v1/models",
    authentication: "bearer",
    wireFormat: "OpenAI Responses and chat completions",
    model: "a capability key, capability@provider/model, or provider/model",
    idempotencyKey: "Send the header Idempotency-Key: the same request with the same key runs only once.",
  }),
  pinnedExecution: () => ({
    submit: "POST /v1/inference/pinned",
    get: "GET /v1/inference/pinned/{receipt_id}",
    bulkSubmit: "POST /v1/inference/pinned/bulk",
    bulkGet: "GET /v1/inference/pinned/bulk/{bulk_id}",
    bulkWait: {
      ...PINNED_POLL,
      terminal: ["succeeded", "partial", "failed"],
      nextActions: ["poll", "stop"],
    },
    bulkLimits: { items: BULK_ITEMS, concurrency: BULK_LANES },
    providerTimeout: {
      defaultSeconds: PINNED_TIMEOUT.standard,
      minSeconds: PINNED_TIMEOUT.least,
      exceedsPlatformMax: 422,
      admissionDeadline: {
        standardSeconds: PINNED_ADMISSION.standard,
        deferredSeconds: PINNED_ADMISSION.deferred,
        maxSeconds: PINNED_ADMISSION.most,
      },
      queueWait: { bulkScheduleToStartSeconds: START_WINDOW_SECONDS, receiptField: "schedulerWaitMs" },
    },
    semantics: "Runs once, at exactly this provider, model and interface, with the request unchanged.",
  }),
  pricing: () => ({
    byokFeePercent: 0,
    managedServiceFeeBps: SERVICE_FEE_BPS,
    managedServiceFeePercent: SERVICE_FEE_BPS / 100,
    plans: allPlans().map(({ limits: _, features: __, ...plan }) => plan),
    rule: "Managed: the provider's price plus the service fee. Your own account: no fee.",
  }),
  projectBootstrap: () => ({ available: false }),
  provenance: () => ({
    receipts: "GET /v1/jobs/{job_id}/receipt",
    manifests: "POST /v1/provenance/manifests",
    lockfile: "GET /v1/provenance/lockfile",
    keys: `${publicUrl}/.well-known/jwks.json`,
    signature: "Ed25519 over the RFC 8785 form",
  }),
  publicSmoke: () => ({ capability: "compute.evaluate.v1", costs: 0, needsKey: true }),
  pythonSdk: () => ({
    available: true,
    package: "capstan-client",
    source: "clients/python",
    runAndWait: "client.run_and_wait(capability, input, max_cost_usd=max_cost_usd)",
    verifiesDownloads: true,
  }),
  sdk: () => ({
    openapi: `${publicUrl}/openapi.json`,
    typescript: {
      package: "@capstan/client",
      source: "clients/typescript",
      runAndWait: "client.runAndWait(capability, input, { maxCostUsd })",
      verifiesDownloads: true,
    },
  }),
  security: () => ({
    tenancy: "A key has access to one organization, or to one of its projects if it is bound to it.",
    retention: "context.retentionRequirement sets how long content is kept; hashes are kept.",
  }),
  surfaces: () => ({
    http: `${publicUrl}/v1`,
    mcp: `${publicUrl}/mcp`,
    openaiCompatible: `${publicUrl}/v1`,
    sdk: "@capstan/client",
    cli: "capstan",
    panel: publicUrl,
    sandbox: isSandboxOn,
  }),
  verification: () => ({
    artifact: "Compare the SHA-256 of the downloaded bytes with artifacts[].sha256 in the receipt.",
    receipt: "Verify the signature offline with the published keys.",
  }),
  workspace: () => ({ context: "GET /v1/session/context" }),
} satisfies Record<string, () => Json>;
export type AgentSection = keyof typeof SECTIONS;

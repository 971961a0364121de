import createFetchClient from "openapi-fetch";
import { type AdapterUpload, sendAdapter } from "./adapters";
import { type Artifact, type Download, downloadArtifact } from "./artifacts";
import type { Core, Method, PathsWith, Schemas, TypedCall } from "./core";
import { type FollowOptions, follow, type StreamFrame } from "./events";
import type { paths } from "./openapi.gen";
import {
  type RequestOptions,
  type Run,
  type RunOptions,
  runAndWait,
  submission,
  type WaitOptions,
  waitForJob,
} from "./run";
import { type StreamOptions, type StreamRun, startStream } from "./stream";
import { asHeader, baseOf, newIdempotencyKey, type TransportOptions, transportOf } from "./transport";
import { type KeySet, type Verification, verifyDocument, verifyText, type Witnesses } from "./verify";

export type ClientOptions = TransportOptions & {
  /** The project for requests that name none; not needed with a key bound to a project. */
  projectId?: string | undefined;
};

export type JobEvent = Schemas["JobEvent"];

export type Client = {
  /**
   * Any operation of the API by its method and path, typed. Returns its JSON; throws CapstanError unless the status is 2xx.
   */
  get: TypedCall<"get">;
  post: TypedCall<"post">;
  put: TypedCall<"put">;
  patch: TypedCall<"patch">;
  delete: TypedCall<"delete">;
  /** A request to any path of the service, for responses that are not JSON. Throws unless the status is 2xx. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Runs a capability to its end, synchronously or as a job: as `mode` says, or else depending on the capability. */
  runAndWait<Output = unknown>(
    capability: string,
    input: Record<string, unknown>,
    options?: RunOptions,
  ): Promise<Run<Output>>;
  /** Submits a durable job and returns it. */
  submit(
    capability: string,
    input: Record<string, unknown>,
    options?: RequestOptions & { signal?: AbortSignal },
  ): Promise<Schemas["Job"]>;
  /** Waits for a submitted job; also continues the wait after a timeout or an approval. */
  waitForJob<Output = unknown>(jobId: string, options?: WaitOptions): Promise<Run<Output>>;
  /** Runs a capability and streams its text. */
  stream(capability: string, input: Record<string, unknown>, options?: StreamOptions): Promise<StreamRun>;
  /** A job's events as they are written, until its end. */
  jobEvents(jobId: string, options?: FollowOptions): AsyncGenerator<JobEvent>;
  /** The bytes of an artifact, verified against the SHA-256 in the receipt. */
  download(jobId: string, artifact: Artifact, options?: { signal?: AbortSignal }): Promise<Download>;
  /** Uploads LoRA weights; a file-backed Blob is read while it is sent. */
  uploadAdapter(upload: AdapterUpload): Promise<Schemas["ModelAdapter"]>;
  /** Verifies a receipt, pinned record, manifest or lockfile with the service's published keys, or with the given ones. */
  verify(document: unknown, options?: Witnesses & { keys?: KeySet }): Promise<Verification>;
  /** The service's published keys for verification. */
  keySet(): Promise<KeySet>;
};

/** The paths where a POST with an idempotency key is safe to repeat. */
export const KEYED = [
  "/v1/audio/speech",
  "/v1/capabilities/{capability_key}/invoke",
  "/v1/capabilities/{capability_key}/jobs",
  "/v1/capabilities/{capability_key}/comparisons",
  "/v1/capability-requests",
  "/v1/chat/completions",
  "/v1/embeddings",
  "/v1/images/edits",
  "/v1/images/generations",
  "/v1/inference/pinned",
  "/v1/inference/pinned/bulk",
  "/v1/inference/pinned/bulk/{bulk_id}/retry",
  "/v1/jobs/{job_id}/retry",
  "/v1/responses",
] as const satisfies PathsWith<"post">[];
/** A path may have a value in the place of a parameter, because some capabilities have paths of their own. */
const KEYED_PATHS = KEYED.map((path) => new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`));
const isKeyed = (path: string) => KEYED_PATHS.some((keyed) => keyed.test(path));

/** A client of one Capstan service. The key cannot be read from it. */
export function createClient(options: ClientOptions): Client {
  const base = baseOf(options.baseUrl);
  const transport = transportOf(options);
  const api = createFetchClient<paths>({ baseUrl: base, fetch: transport, credentials: "omit" });

  const call =
    <M extends Method>(method: M): TypedCall<M> =>
    async (path, ...[init]) => {
      const given = (init ?? {}) as { headers?: HeadersInit; body?: unknown }; // an init has no other members that are read here
      const headers = new Headers(given.headers);
      if (method === "post" && isKeyed(path) && !headers.has("idempotency-key"))
        headers.set("idempotency-key", asHeader(keyIn(given.body) ?? newIdempotencyKey()));
      // The pair of path and init was type-checked at the call; the library accepts any pair.
      const request = api.request as unknown as (
        method: string,
        path: string,
        init: object,
      ) => Promise<{ data?: unknown }>;
      const { data } = await request(method, path, { ...given, headers: Object.fromEntries(headers) });
      return data as never; // the operation declares this type
    };

  const [get, post] = [call("get"), call("post")];
  const core: Core = { base, transport, projectId: options.projectId, get, post };
  let keys: Promise<KeySet> | undefined;
  const keySet = () => {
    keys ??= get("/.well-known/jwks.json").then(
      (set): KeySet => set,
      (error) => {
        keys = undefined;
        throw error;
      },
    );
    return keys;
  };

  return {
    get,
    post,
    put: call("put"),
    patch: call("patch"),
    delete: call("delete"),
    fetch: (path, init) => transport(new Request(base + path, { credentials: "omit", ...init })),
    runAndWait: (capability, input, run) => runAndWait(core, capability, input, run),
    submit: (capability, input, more = {}) =>
      post("/v1/capabilities/{capability_key}/jobs", submission(core, capability, input, more)),
    waitForJob: (jobId, wait) => waitForJob(core, jobId, wait),
    stream: (capability, input, run) => startStream(core, capability, input, run),
    jobEvents: (jobId, follow) => jobEvents(core, jobId, follow),
    download: (jobId, artifact, more) => downloadArtifact(core, jobId, artifact, more?.signal),
    uploadAdapter: (upload) => sendAdapter(core, upload),
    verify: async (document, { keys: given, ...witnesses } = {}) => {
      const set = given ?? (await keySet());
      return typeof document === "string"
        ? verifyText(document, set, witnesses)
        : verifyDocument(document, set, witnesses);
    },
    keySet,
  };
}

/** The idempotency key in a body, if it has one. */
function keyIn(body: unknown): string | undefined {
  const key = typeof body === "object" && body !== null && "idempotencyKey" in body && body.idempotencyKey;
  return typeof key === "string" && key.trim() !== "" ? key : undefined;
}

const OVER = new Set(["succeeded", "failed", "canceled"]);

async function* jobEvents(core: Core, jobId: string, options: FollowOptions = {}): AsyncGenerator<JobEvent> {
  const url = `${core.base}/v1/jobs/${encodeURIComponent(jobId)}/events`;
  let hadEnded = false;
  // The service ends the stream after the last event of an ended job, including events after its end.
  const hasEnded = async (last: StreamFrame | null, isWhole: boolean) => {
    hadEnded ||= last !== null && OVER.has(last.event.replace(/^job\./, ""));
    if (hadEnded) return isWhole;
    const init = { params: { path: { job_id: jobId } }, signal: options.signal ?? null };
    hadEnded = OVER.has((await core.get("/v1/jobs/{job_id}", init)).status);
    return false; // the job may have ended after the stream did, so the last events are requested once more
  };
  for await (const { data } of follow(core.transport, url, options, hasEnded)) yield data as JobEvent;
}

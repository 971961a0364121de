import createFetchClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import { type AdapterUpload, uploadAdapter } from "./adapters";
import { type Artifact, type Download, download } from "./artifacts";
import { type FollowOptions, follow, type StreamFrame } from "./events";
import type { components, paths } from "./openapi.gen";
import {
  type RequestOptions,
  type Run,
  type RunOptions,
  runAndWait,
  submission,
  type WaitOptions,
  waitForJob,
} from "./run";
import { type StreamOptions, type StreamRun, stream } from "./stream";
import { baseOf, newIdempotencyKey, type Transport, type TransportOptions, transportOf } from "./transport";
import { type KeySet, type Verification, verifyDocument, verifyText, type Witnesses } from "./verify";

export type Schemas = components["schemas"];

type Method = "get" | "post" | "put" | "patch" | "delete";
type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: infer Operation }
    ? [Operation] extends [undefined]
      ? never
      : P
    : never;
}[keyof paths];
type Init<P extends keyof paths, M extends Method> = MaybeOptionalInit<paths[P], M>;
type Arguments<I> = undefined extends I ? [init?: I] : [init: I];
type Answer<P extends keyof paths, M extends Method> = paths[P] extends {
  [K in M]: infer Operation extends Record<string | number, unknown>;
}
  ? NonNullable<FetchResponse<Operation, object, "application/json">["data"]>
  : never;
type Call<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...init: Arguments<Init<P, M>>
) => Promise<Answer<P, M>>;

export type ClientOptions = TransportOptions & {
  /** Of requests that name none; not needed with a key that is bound to a project. */
  projectId?: string | undefined;
};

export type JobEvent = Schemas["JobEvent"];

/** What the helpers of this package need of the client. */
export type Core = {
  base: string;
  transport: Transport;
  projectId: string | undefined;
  get: Call<"get">;
  post: Call<"post">;
};

export type Client = {
  /** Any operation of the API by its method and path, typed; answers with its JSON and throws CapstanError for all but 2xx. */
  get: Call<"get">;
  post: Call<"post">;
  put: Call<"put">;
  patch: Call<"patch">;
  delete: Call<"delete">;
  /** A request to any path of the service, for answers that are no JSON. Throws for all but 2xx. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Runs a capability to its end: at once or as a job, as the capability is run. */
  runAndWait<Output = unknown>(
    capability: string,
    input: Record<string, unknown>,
    options?: RunOptions,
  ): Promise<Run<Output>>;
  /** Submits a durable job and answers with it as it stands. */
  submit(
    capability: string,
    input: Record<string, unknown>,
    options?: RequestOptions & { signal?: AbortSignal },
  ): Promise<Schemas["Job"]>;
  /** Waits for a job that was submitted; also goes on with one after a timeout or an approval. */
  waitForJob<Output = unknown>(jobId: string, options?: WaitOptions): Promise<Run<Output>>;
  /** Runs a capability and tells its text as it is written. */
  stream(capability: string, input: Record<string, unknown>, options?: StreamOptions): Promise<StreamRun>;
  /** A job's events as they are written, to its end. */
  jobEvents(jobId: string, options?: FollowOptions): AsyncGenerator<JobEvent>;
  /** The bytes of an artifact, held against the SHA-256 that the receipt seals. */
  download(jobId: string, artifact: Artifact, options?: { signal?: AbortSignal }): Promise<Download>;
  /** Uploads LoRA weights; a file-backed Blob is read as it is sent. */
  uploadAdapter(upload: AdapterUpload): Promise<Schemas["ModelAdapter"]>;
  /** Verifies a receipt, pinned record, manifest or lockfile by the keys the service publishes, or by these. */
  verify(document: unknown, options?: Witnesses & { keys?: KeySet }): Promise<Verification>;
  /** The keys that verify, as the service publishes them. */
  keySet(): Promise<KeySet>;
};

/** Where a POST under an idempotency key is one submission, however often it is sent. */
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
const isKeyed = (path: string) => (KEYED as readonly string[]).includes(path);

/** A client of one Capstan service. It keeps the key to itself. */
export function createClient(options: ClientOptions): Client {
  const base = baseOf(options.baseUrl);
  const transport = transportOf(options);
  const api = createFetchClient<paths>({ baseUrl: base, fetch: transport, credentials: "omit" });

  const call =
    <M extends Method>(method: M): Call<M> =>
    async (path, ...[init]) => {
      const given = (init ?? {}) as { headers?: HeadersInit; body?: unknown }; // as `Call` asks for them
      const headers = new Headers(given.headers);
      if (method === "post" && isKeyed(path) && !headers.has("idempotency-key"))
        headers.set("idempotency-key", keyIn(given.body) ?? newIdempotencyKey());
      // The pair of path and init was checked where this was called; for the library it is any pair.
      const request = api.request as unknown as (
        method: string,
        path: string,
        init: object,
      ) => Promise<{ data?: unknown }>;
      const { data } = await request(method, path, { ...given, headers: Object.fromEntries(headers) });
      return data as never; // what the operation declares
    };

  const [get, post] = [call("get"), call("post")];
  const core: Core = { base, transport, projectId: options.projectId, get, post };
  let keys: Promise<KeySet> | undefined;
  const keySet = () => {
    keys ??= get("/.well-known/jwks.json").then(
      (set) => set as KeySet,
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
    stream: (capability, input, run) => stream(core, capability, input, run),
    jobEvents: (jobId, follow) => jobEvents(core, jobId, follow),
    download: (jobId, artifact, more) => download(core, jobId, artifact, more?.signal),
    uploadAdapter: (upload) => uploadAdapter(core, upload),
    verify: async (document, { keys: given, ...witnesses } = {}) => {
      const set = given ?? (await keySet());
      return typeof document === "string"
        ? verifyText(document, set, witnesses)
        : verifyDocument(document, set, witnesses);
    },
    keySet,
  };
}

/** The key of a body that has one of its own. */
function keyIn(body: unknown): string | undefined {
  const key = typeof body === "object" && body !== null && "idempotencyKey" in body && body.idempotencyKey;
  return typeof key === "string" && key.trim() !== "" ? key : undefined;
}

const OVER = new Set(["succeeded", "failed", "canceled"]);

async function* jobEvents(core: Core, jobId: string, options: FollowOptions = {}): AsyncGenerator<JobEvent> {
  const url = `${core.base}/v1/jobs/${encodeURIComponent(jobId)}/events`;
  let wasOver = false;
  // The service ends the stream behind the last event of an ended job: behind what people did to it after its end, too.
  const isOver = async (last: StreamFrame | null, isWhole: boolean) => {
    wasOver ||= last !== null && OVER.has(last.event.replace(/^job\./, ""));
    if (wasOver) return isWhole;
    const init = { params: { path: { job_id: jobId } }, signal: options.signal ?? null };
    wasOver = OVER.has((await core.get("/v1/jobs/{job_id}", init)).status);
    return false; // it may have ended since the stream did: what came last is asked for once more
  };
  for await (const { data } of follow(core.transport, url, options, isOver)) yield data as JobEvent;
}

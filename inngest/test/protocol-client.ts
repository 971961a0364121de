import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import canonicalize from "canonicalize";

/** The handlers of app/api/inngest/route.ts, or of another `serve()`. */
export type Handlers = Record<"GET" | "POST" | "PUT", (request: Request) => Promise<Response>>;

export type ProtocolEvent = { id?: string; name: string; data: Record<string, unknown>; ts?: number };
export type ProtocolRun = {
  functionId: string;
  event: ProtocolEvent;
  status: "completed" | "failed";
  output: unknown;
  /** The number of calls of the handler. */
  calls: number;
};

export type ProtocolClient = Awaited<ReturnType<typeof startProtocolClient>>;

/** The parts of a function's registration and of a step's report that our functions use. */
export type FunctionConfig = {
  id: string;
  triggers: ({ event: string } | { cron: string })[];
  concurrency?: unknown;
  steps: { step: { retries?: { attempts?: number } } };
};
type Op = { op: string; id: string; data?: unknown; error?: unknown };

type StepState = { data: unknown } | { error: unknown } | null;
type Answer = { status: number; headers: Headers; body: unknown };

/**
 * The server's side of Inngest's documented SDK protocol, as far as our tests need it: introspection, registration
 * (out of band and in band), signed calls, runs driven step by step to the end, events and checkpoints received over
 * HTTP. Time is skipped: sleeps end at once. A call whose answer is lost, by `losesAnswer`, is made again.
 *
 * Point the SDK to it with INNGEST_BASE_URL = `url` and INNGEST_SIGNING_KEY = the same key.
 */
export async function startProtocolClient(options: {
  signingKey: string;
  checkpointing?: boolean;
  losesAnswer?: () => boolean;
}) {
  const { signingKey, checkpointing = false, losesAnswer = () => false } = options;
  const url = "http://capstan.test/api/inngest";
  const sent: ProtocolEvent[] = []; // sent by functions, through the event API
  const checkpoints = new Map<string, Op[]>();
  const registrations: { authorization: string | undefined; functions: FunctionConfig[] }[] = [];
  let functions: FunctionConfig[] = [];

  const api = createServer(async (request, response) => {
    const body = JSON.parse((await readAll(request)) || "null");
    const path = new URL(request.url ?? "/", "http://api").pathname;
    const reply = (status: number, value: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (path.startsWith("/e/")) {
      const events: ProtocolEvent[] = [body]
        .flat()
        .map((event) => ({ ...event, id: event.id ?? randomUUID() }));
      sent.push(...events);
      return reply(200, { ids: events.map((event) => event.id), status: 200 });
    }
    if (path === "/fn/register") {
      registrations.push({ authorization: request.headers.authorization, functions: body.functions });
      functions = body.functions;
      return reply(200, { ok: true, status: 200, modified: true });
    }
    const checkpoint = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(path);
    if (checkpoint?.[1]) {
      checkpoints.get(checkpoint[1])?.push(...body.steps);
      return reply(200, {});
    }
    return reply(404, { error: `The test server has no ${path}` });
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const address = api.address();
  if (!address || typeof address === "string") throw new Error("The test server has no port");

  function sign(body: string): string {
    const time = Math.floor(Date.now() / 1000).toString();
    const mac = createHmac("sha256", signingKey.replace(/^signkey-\w+-/, ""));
    return `t=${time}&s=${mac.update(body).update(time).digest("hex")}`;
  }

  /** Calls a handler, signed by default. */
  async function call(
    handlers: Handlers,
    method: keyof Handlers,
    request: {
      query?: Record<string, string>;
      body?: unknown;
      signed?: boolean;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Answer> {
    const target = new URL(url);
    for (const [key, value] of Object.entries(request.query ?? {})) target.searchParams.set(key, value);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    // Signs the canonical form (RFC 8785) of the parsed body, and the empty text if there is no body.
    const signature = sign(request.body === undefined ? "" : (canonicalize(request.body) ?? ""));
    const response = await handlers[method](
      new Request(target, {
        method,
        ...(body !== undefined && { body }),
        headers: {
          host: target.host,
          "content-type": "application/json",
          "x-inngest-server-kind": "cloud",
          ...(request.signed !== false && { "x-inngest-signature": signature }),
          ...request.headers,
        },
      }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null };
  }

  /** Drives one run of a registered function to its end. */
  async function run(
    handlers: Handlers,
    functionId: string,
    cause: ProtocolEvent,
    runId: string = randomUUID(),
  ): Promise<ProtocolRun> {
    const config = functions.find((candidate) => candidate.id === functionId);
    if (!config) throw new Error(`No function "${functionId}" is registered`);
    const event = { id: randomUUID(), ts: Date.now(), ...cause };
    const maxAttempts = (config.steps.step?.retries?.attempts ?? 3) + 1;
    const steps: Record<string, StepState> = {};
    let calls = 0;

    async function execute(stepId: string, attempt: number, parallel: boolean): Promise<Answer> {
      calls++;
      const known: Op[] = [];
      checkpoints.set(runId, known);
      const stack = Object.keys(steps);
      const answer = await call(handlers, "POST", {
        query: { fnId: functionId, stepId },
        body: {
          event,
          events: [event],
          steps,
          version: 2,
          ctx: {
            run_id: runId,
            attempt,
            max_attempts: maxAttempts,
            disable_immediate_execution: parallel,
            use_api: false,
            stack: { stack, current: stack.length },
            ...(checkpointing && { fn_id: functionId, qi_id: runId }),
          },
        },
      });
      for (const op of known) settle(op);
      return losesAnswer() ? execute(stepId, attempt, parallel) : answer;
    }

    function settle(op: Op): void {
      if (op.op === "StepRun") steps[op.id] = { data: op.data ?? null };
      else if (op.op === "StepFailed") steps[op.id] = { error: op.error };
      else if (op.op === "Sleep") steps[op.id] = null;
      else throw new Error(`The test server does not know the op ${op.op}`);
    }

    const end = (status: "completed" | "failed", output: unknown): ProtocolRun => ({
      functionId,
      event,
      status,
      output,
      calls,
    });

    let attempt = 0;
    let parallel = false;
    for (let round = 0; round < 200; round++) {
      const { status, headers, body } = await execute("step", attempt, parallel);
      if (status === 200) return end("completed", body);
      if (status !== 206) {
        if (headers.get("x-inngest-no-retry") === "true" || attempt + 1 >= maxAttempts)
          return end("failed", body);
        attempt++;
        continue;
      }
      const ops = [body].flat() as Op[]; // a 206 carries ops, by the protocol
      const complete = ops.find((op) => op.op === "RunComplete");
      if (complete) return end("completed", complete.data);
      const planned = ops.filter((op) => op.op === "StepPlanned");
      const failing = ops.some((op) => op.op === "StepError");
      for (const op of ops) if (op.op !== "StepPlanned" && op.op !== "StepError") settle(op);
      for (const { id } of planned) {
        for (let tries = 0; !(id in steps); tries++) {
          const answer = await execute(id, tries, true);
          if (answer.status !== 206) return end("failed", answer.body);
          for (const op of [answer.body].flat() as Op[]) if (op.op !== "StepError") settle(op);
        }
      }
      parallel = planned.length > 1;
      attempt = failing ? attempt + 1 : 0;
    }
    throw new Error(`${functionId} did not come to an end`);
  }

  return {
    /** Base URL of the API that the SDK talks to. */
    url: `http://127.0.0.1:${address.port}`,
    sent,
    registrations,
    call,
    run,
    /** The header that the SDK must send when it registers. */
    authorization: `Bearer ${signingKey.replace(/^(signkey-\w+-)?(.*)$/, (_, prefix = "", key) => prefix + createHash("sha256").update(Buffer.from(key, "hex")).digest("hex"))}`,
    /** Asks the app to register itself, as a deploy does, and returns what it registered. */
    async register(handlers: Handlers): Promise<FunctionConfig[]> {
      const answer = await call(handlers, "PUT", { signed: false });
      if (answer.status !== 200) throw new Error(`Registration was refused: ${JSON.stringify(answer.body)}`);
      return functions;
    },
    /** Sends an event and runs every registered function that the event triggers. */
    async send(handlers: Handlers, event: ProtocolEvent, runId?: string): Promise<ProtocolRun[]> {
      const runs: ProtocolRun[] = [];
      for (const config of functions.filter((candidate) => isTriggered(candidate, event)))
        runs.push(await run(handlers, config.id, event, runId));
      return runs;
    },
    close: () => new Promise((resolve) => api.close(resolve)),
  };
}

function isTriggered(config: FunctionConfig, event: ProtocolEvent): boolean {
  return config.triggers.some((trigger) => "event" in trigger && trigger.event === event.name);
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

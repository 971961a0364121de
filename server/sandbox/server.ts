import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "@/server/web/listen";
import { type PortRequest, type PortServer, RequestRefused, type SandboxTier } from "./ports/define";
import { embeddingPort } from "./ports/embedding";
import { imagePort } from "./ports/image";
import { meshPort } from "./ports/mesh";
import { musicPort } from "./ports/music";
import { registrarPort } from "./ports/registrar";
import { soundPort } from "./ports/sound";
import { speechPort } from "./ports/speech";
import { textPort } from "./ports/text";
import { videoPort } from "./ports/video";
import { openSubmissionLog, type SandboxSubmission, type SubmissionLog } from "./submissions";
import { piecesOf, type TextAnswer } from "./text";
import { openWorkshop, type Workshop } from "./work";

/*
 * The sandbox: a vendor of our own over real HTTP, for development, tests and demos. It answers from the input alone, misbehaves
 * on request (by model name), and logs every accepted request on disk.
 */

export type SandboxOptions = {
  /** 0 chooses a free port. */
  port: number;
  host?: string;
  /** Holds `submissions.ndjson`, `refusals.ndjson` and the folder `work` of ports that answer later. */
  dataDir: string;
  /** Duration of work on ports that answer later. Default 1.5 seconds. */
  workMs?: number;
  /** Delay of sandbox-slow. Default 20 seconds. */
  slowMs?: number;
};
export type Sandbox = { url: string; stop(): Promise<void> };

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const BUSY_ANSWERS = 2;
const MAX_BUSY_ATTEMPTS = 100_000;

/**
 * The behavior of each model. The last one behaves as each question or system message says: `[busy 3] …` is refused three
 * times, and `[slow 300] What is …` waits 300 ms, or as long as sandbox-slow in a stream.
 */
const BEHAVIOURS = {
  "sandbox-1": "answer",
  "sandbox-2": "answer",
  "sandbox-slow": "slow",
  "sandbox-refuse": "refuse",
  "sandbox-busy": "busy",
  "sandbox-lost": "lost",
  "sandbox-empty": "empty",
  "sandbox-fail": "fail",
  "sandbox-partial": "answer",
  "sandbox-garbled": "answer",
  "sandbox-gappy": "answer",
  "sandbox-flexless": "flexless",
  "sandbox-flexbusy": "flexbusy",
  "sandbox-flexquiet": "flexquiet",
  "sandbox-malformed": "answer",
  "sandbox-stubborn": "answer",
  "sandbox-careless": "answer",
  "sandbox-hollow": "answer",
  "sandbox-thinker": "answer",
  "sandbox-mixed": "answer",
} as const;
type Behaviour = (typeof BEHAVIOURS)[keyof typeof BEHAVIOURS];
const isModel = (name: string): name is keyof typeof BEHAVIOURS => Object.hasOwn(BEHAVIOURS, name);

/** The ports by path. */
const PORTS: Record<string, PortServer> = {
  "/v1/text": textPort,
  "/v1/image": imagePort,
  "/v1/mesh": meshPort,
  "/v1/video": videoPort,
  "/v1/speech": speechPort,
  "/v1/music": musicPort,
  "/v1/sound": soundPort,
  "/v1/registrar": registrarPort,
  "/v1/embedding": embeddingPort,
};

/** Starts the sandbox; `stop` ends open connections, frees the port and writes out the log. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const desk: Desk = {
    log: openSubmissionLog(options.dataDir),
    refusals: openSubmissionLog(options.dataDir, "refusals"),
    works: openWorkshop(options.dataDir, (path) => PORTS[path]),
    slowMs: options.slowMs ?? 20_000,
    workMs: options.workMs ?? 1_500,
    busy: new Map(),
    inHand: 0,
  };
  const server = createServer((request, response) => {
    serve(desk, request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else send(response, 500, problem("internal", "The sandbox failed."));
    });
  });
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  const url = await listen(server, { host: options.host ?? "127.0.0.1", port: options.port });
  return {
    url,
    async stop() {
      await new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      });
      desk.log.close();
      desk.refusals.close();
    },
  };
}

/** State of one running sandbox. */
type Desk = {
  log: SubmissionLog;
  refusals: SubmissionLog;
  works: Workshop;
  slowMs: number;
  workMs: number;
  /** Number of times that each attempt was refused as busy. */
  busy: Map<string, number>;
  /** Number of requests that have arrived and have not been answered. */
  inHand: number;
};

async function serve(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "/";
  if (request.method === "POST") {
    const served = PORTS[path];
    if (!served) return send(response, 404, problem("not_found", "No such port."));
    const bytes = await readBody(request);
    if (bytes === null) return send(response, 413, problem("too_large", "The body is too large."));
    const attemptId = String(request.headers["x-attempt-id"] ?? "");
    desk.inHand++;
    return submit(desk, { path, served, bytes, attemptId }, response).finally(() => desk.inHand--);
  }
  if (request.method !== "GET") return send(response, 405, problem("method", "GET or POST."));
  const url = new URL(path, "http://sandbox");
  if (url.pathname === "/healthz") return send(response, 200, { status: "ok" });
  const work = /^\/v1\/work\/(sbx_[0-9a-f]{24})$/.exec(url.pathname)?.[1];
  if (work) return tellWork(desk.works, work, response);
  if (url.pathname === "/submissions")
    return send(response, 200, await report(desk.log, desk.refusals, url.searchParams.get("attemptId")));
  send(response, 404, problem("not_found", "No such page."));
}

type Request = { path: string; served: PortServer; bytes: Buffer; attemptId: string };

/**
 * Logs a request as accepted or as refused, then answers as its model does. A request that does not fit its port, or names no
 * model, is not logged.
 */
async function submit(
  desk: Desk,
  { path, served, bytes, attemptId }: Request,
  response: ServerResponse,
): Promise<void> {
  const body = bytes.toString("utf8");
  const read = served.read(body);
  if (!read) return send(response, 400, problem("invalid_request", "The request does not fit the port."));
  if (!isModel(read.model)) return send(response, 404, problem("model_not_found", "No such model."));
  const behaviour: Behaviour = read.script?.behaviour ?? BEHAVIOURS[read.model];
  const arrived = {
    at: new Date().toISOString(),
    attemptId,
    model: read.model,
    port: served.name,
    tier: read.tier,
    sha256: hash("sha256", bytes, "hex"),
    inHand: desk.inHand,
  };

  // A request that is refused, for its schema for example, is not a submission, so the answer is made before the request is
  // logged.
  let answer: object | null;
  try {
    refuseAtOnce(desk, behaviour, read, attemptId);
    answer = await answerOf(read, served, behaviour);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    await desk.refusals.append(arrived);
    if (error instanceof BusyNow) response.setHeader("retry-after", "1");
    return send(response, error instanceof BusyNow ? 429 : 400, problem(error.code, error.message));
  }
  await desk.log.append(arrived);

  if (served.answersLater) {
    const id = idOf(`${attemptId}\n${body}`);
    const readyAt = Date.now() + (behaviour === "slow" ? desk.slowMs : desk.workMs);
    desk.works.take(id, { path, body, isEmpty: behaviour === "empty", fails: behaviour === "fail", readyAt });
    if (behaviour === "lost") return void response.destroy();
    return send(response, 202, { id, model: read.model, status: "working" });
  }
  if (behaviour === "fail") return send(response, 500, problem("failed", "This model fails every request."));
  const id = `sbx_${arrived.sha256.slice(0, 24)}`;
  const ran: SandboxTier = behaviour === "flexquiet" ? "standard" : read.tier;
  const reply = { id, model: read.model, ...answer, ...(served.name === "text" ? { tier: ran } : {}) };
  if (read.isStream) return sendStream(response, reply as TextReply, behaviour, desk.slowMs); // only the text port streams
  if (behaviour === "lost") return void response.destroy();
  if (behaviour === "slow" && !(await stillThere(response, read.script?.figure ?? desk.slowMs))) return;
  send(response, 200, reply);
}

class BusyNow extends RequestRefused {
  override readonly name = "BusyNow";
}

/** Throws for a request that the model never accepts, or does not accept yet. */
function refuseAtOnce({ busy }: Desk, behaviour: Behaviour, read: PortRequest, attemptId: string): void {
  const isFlex = read.tier === "flex";
  if (behaviour === "refuse") throw new RequestRefused("refused", "This model refuses every request.");
  if (behaviour === "flexless" && isFlex)
    throw new RequestRefused("tier_unavailable", "This model is not offered on the tier flex.");
  if (behaviour !== "busy" && !(behaviour === "flexbusy" && isFlex)) return;
  const refusals = busy.get(attemptId) ?? 0;
  if (refusals >= (read.script?.figure ?? BUSY_ANSWERS)) return;
  if (busy.size >= MAX_BUSY_ATTEMPTS) busy.clear();
  busy.set(attemptId, refusals + 1);
  throw new BusyNow("busy", "No capacity right now.");
}

/** The answer's own members; null if none are sent now. */
async function answerOf(read: PortRequest, served: PortServer, behaviour: Behaviour): Promise<object | null> {
  if (behaviour === "empty") return read.empty();
  if (behaviour === "fail" || served.answersLater || (behaviour === "lost" && !read.isStream)) return null;
  return read.answer();
}

const idOf = (text: string) => `sbx_${hash("sha256", text, "hex").slice(0, 24)}`;

async function tellWork(works: Workshop, id: string, response: ServerResponse): Promise<void> {
  const found = await works.look(id);
  if (!found) return send(response, 404, problem("not_found", "No such work."));
  send(response, 200, found);
}

const problem = (code: string, message: string) => ({ error: { code, message } });

function send(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.byteLength });
  response.end(body);
}

type TextReply = TextAnswer & { id: string; model: string; tier: SandboxTier };

/**
 * Sends the answer piece by piece, always cut at the same places. A slow model spreads the pieces over its delay; a lost one
 * breaks off in the middle.
 */
async function sendStream(
  response: ServerResponse,
  reply: TextReply,
  behaviour: Behaviour,
  slowMs: number,
): Promise<void> {
  const pieces = piecesOf(reply.text);
  const sent = behaviour === "lost" ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces;
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const tell = (event: object) =>
    new Promise<void>((done) => {
      if (response.destroyed) return done();
      response.write(`data: ${JSON.stringify(event)}\n\n`, () => done());
    });
  for (const text of sent) {
    await tell({ type: "delta", text });
    if (behaviour === "slow" && !(await stillThere(response, slowMs / pieces.length))) return;
  }
  if (behaviour === "lost") {
    response.destroy();
    return;
  }
  await tell({ type: "done", reply });
  response.end();
}

function readBody(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    let received = 0;
    request.on("data", (chunk: Buffer) => {
      received += chunk.byteLength;
      if (received <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    request.on("end", () => done(received > MAX_BODY_BYTES ? null : Buffer.concat(chunks)));
    request.on("error", failed);
  });
}

/** Waits for this long; false if the caller left in between. */
function stillThere(response: ServerResponse, ms: number): Promise<boolean> {
  return new Promise((done) => {
    const settle = (isThere: boolean) => {
      clearTimeout(timer);
      response.off("close", onClose);
      done(isThere);
    };
    const onClose = () => settle(false);
    const timer = setTimeout(() => settle(true), ms);
    response.once("close", onClose);
  });
}

/** Counts the whole log, or lists everything that arrived under one attempt. */
async function report(
  log: SubmissionLog,
  refusals: SubmissionLog,
  attemptId: string | null,
): Promise<object> {
  if (attemptId !== null) {
    const submissions = await ofAttempt(log, attemptId);
    return {
      attemptId,
      count: submissions.length,
      submissions,
      refusals: await ofAttempt(refusals, attemptId),
    };
  }
  const counts = new Map<string, number>();
  let total = 0;
  for await (const submission of log.read()) {
    total += 1;
    counts.set(submission.attemptId, (counts.get(submission.attemptId) ?? 0) + 1);
  }
  const repeated = [...counts]
    .filter(([, count]) => count > 1)
    .map(([id, count]) => ({ attemptId: id, count }));
  return { total, attempts: counts.size, repeated };
}

async function ofAttempt(log: SubmissionLog, attemptId: string): Promise<SandboxSubmission[]> {
  const found = [];
  for await (const one of log.read()) if (one.attemptId === attemptId) found.push(one);
  return found;
}

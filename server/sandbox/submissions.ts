import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** One logged request: accepted, so that a vendor would bill it, or refused. */
export type SandboxSubmission = {
  at: string;
  attemptId: string;
  model: string;
  port: string;
  tier: string;
  /** SHA-256 of the body's bytes as they arrived. */
  sha256: string;
  /** Requests in progress at that moment, this one included. */
  inHand: number;
};

export type SubmissionLog = {
  /** Resolves once the operating system has the line: only then may an answer leave. */
  append(submission: SandboxSubmission): Promise<void>;
  /** Reads the log from disk, in order; lines torn by a crash are skipped. */
  read(): AsyncGenerator<SandboxSubmission>;
  close(): void;
};

/**
 * Opens a log in a folder for appending: `submissions.ndjson` for accepted requests, `refusals.ndjson` for refused ones. All
 * lines of one turn of the event loop share one write.
 */
export function openSubmissionLog(
  dataDir: string,
  name: "submissions" | "refusals" = "submissions",
): SubmissionLog {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, `${name}.ndjson`);
  const file = openSync(path, "a+", 0o600);
  if (endsTorn(file)) writeSync(file, "\n");

  let lines = "";
  let waiting: { written: () => void; failed: (error: unknown) => void }[] = [];
  const flush = () => {
    const text = lines;
    const waiters = waiting;
    lines = "";
    waiting = [];
    try {
      let rest = Buffer.from(text);
      while (rest.byteLength > 0) rest = rest.subarray(writeSync(file, rest));
      for (const { written } of waiters) written();
    } catch (error) {
      for (const { failed } of waiters) failed(error);
    }
  };

  return {
    append(submission) {
      return new Promise((written, failed) => {
        if (waiting.length === 0) setImmediate(flush);
        lines += `${JSON.stringify(submission)}\n`;
        waiting.push({ written, failed });
      });
    },
    async *read() {
      if (!existsSync(path)) return;
      for await (const line of createInterface({ input: createReadStream(path) })) {
        const submission = parseLine(line);
        if (submission) yield submission;
      }
    },
    close() {
      if (waiting.length > 0) flush();
      closeSync(file);
    },
  };
}

function endsTorn(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

function parseLine(line: string): SandboxSubmission | null {
  try {
    const { at, attemptId, model, port, tier, sha256, inHand } = JSON.parse(line);
    return {
      at: String(at),
      attemptId: String(attemptId),
      model: String(model),
      port: String(port),
      tier: String(tier),
      sha256: String(sha256),
      inHand: Number(inHand),
    };
  } catch {
    return null;
  }
}

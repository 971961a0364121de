import { createInterface } from "node:readline/promises";
import { EXIT_CODES } from "../../../../server/contract/cli";
import {
  AwaitingApprovalError,
  CapstanError,
  IntegrityError,
  RunFailedError,
  WaitTimeoutError,
} from "../errors";

export { EXIT_CODES };

/** A mistake in how the command was called. */
export class UsageError extends Error {}

/** Ends the command with an exit code, after its output was printed. */
export class Ended extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** A command's output: only JSON on standard output with --json, otherwise text for people. */
export type Terminal = {
  isJson: boolean;
  /** Prints the result: the value as JSON, or the text. */
  answer(value: unknown, text: string): void;
  /** Prints one of many results, each on its own line. */
  line(value: unknown, text: string): void;
  /** Prints a note on standard error. */
  note(text: string): void;
  /** Asks the person at the terminal; absent if there is none, or if a program reads the output. */
  ask?: (question: string) => Promise<string>;
};

/** Removes terminal control characters from untrusted text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be found
export const plain = (text: string) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");

export const terminalOf = (isJson: boolean): Terminal => ({
  isJson,
  answer: (value, text) =>
    void process.stdout.write(`${isJson ? JSON.stringify(value, null, 2) : plain(text)}\n`),
  line: (value, text) => void process.stdout.write(`${isJson ? JSON.stringify(value) : plain(text)}\n`),
  note: (text) => void process.stderr.write(`${plain(text)}\n`),
  ...(!isJson && process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
});

/** Reads one line from the keyboard. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new AbortController();
  lines.once("close", () => closed.abort()); // closed by Ctrl-C or the end of the input
  try {
    return await lines.question(question, { signal: closed.signal });
  } catch {
    throw new Ended(EXIT_CODES.interrupted);
  } finally {
    lines.close();
  }
}

const HUMAN = new Set([
  "CONNECTION_REQUIRED",
  "EXTERNAL_ACTIONS_DISABLED",
  "FundingRequired",
  "funding_required",
]);

export function exitCodeOf(error: unknown): number {
  if (error instanceof Ended) return error.code;
  if (error instanceof UsageError) return EXIT_CODES.usage;
  if (error instanceof AwaitingApprovalError) return EXIT_CODES.humanGate;
  if (error instanceof WaitTimeoutError) return EXIT_CODES.waitTimeout;
  if (error instanceof IntegrityError || error instanceof RunFailedError)
    return error.code === "needs_attention" ? EXIT_CODES.humanGate : EXIT_CODES.failed;
  if (!(error instanceof CapstanError)) return EXIT_CODES.failed;
  if (error.status === 401 || error.status === 403) return EXIT_CODES.unauthorized;
  if (error.status === 402 || HUMAN.has(error.code)) return EXIT_CODES.humanGate;
  if (error.executionId !== undefined) return EXIT_CODES.failed;
  if (error.retryable || error.status === 0 || error.status >= 500) return EXIT_CODES.unavailable;
  return EXIT_CODES.usage;
}

/** An error as a command reports it, for programs and for people. */
export function reportOf(error: unknown): { value: object; text: string } {
  if (!(error instanceof CapstanError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: { error: { code: "Usage", message } }, text: message };
  }
  const { status, code, message, details, retryable, retryAfterSeconds, nextAction } = error;
  const { requestId, executionId, receiptId } = error;
  const facts = { status, code, message, details, retryable, retryAfterSeconds, nextAction };
  const links = Object.entries(details).filter(
    ([name, value]) => /url$/i.test(name) && typeof value === "string",
  );
  const lines = [
    `${code}: ${message}`,
    ...links.filter(([, url]) => !message.includes(String(url))).map(([name, url]) => `${name}: ${url}`),
    ...(executionId ? [`execution: ${executionId}`] : []),
    ...(requestId ? [`request: ${requestId}`] : []),
  ];
  return { value: { error: { ...facts, requestId, executionId, receiptId } }, text: lines.join("\n") };
}

/** Aligns the cells of all rows in columns; the rows have equal lengths. */
export function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  "),
    )
    .join("\n");
}

/** The facts of an error, in addition to its message. */
export type ErrorFacts = {
  /** The HTTP status; 0 if there was no response. */
  status: number;
  code: string;
  details?: Record<string, unknown>;
  /** True if the same request may be retried with the same idempotency key. */
  retryable?: boolean;
  /** True if nothing ran, so that a new idempotency key cannot start a second execution. False if that is not known. */
  newKeySafe?: boolean;
  retryAfterSeconds?: number | undefined;
  nextAction?: string | undefined;
  requestId?: string | undefined;
  /** The execution that ended with this error; its record and receipt can be read. */
  executionId?: string | undefined;
  receiptId?: string | undefined;
};

/** An error of the service, or of this client's work with it. The reason of an AbortSignal is thrown unchanged. */
export class CapstanError extends Error {
  override readonly name: string = "CapstanError";
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  readonly retryable: boolean;
  readonly newKeySafe: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly nextAction: string | undefined;
  readonly requestId: string | undefined;
  readonly executionId: string | undefined;
  readonly receiptId: string | undefined;

  constructor(message: string, facts: ErrorFacts, options?: ErrorOptions) {
    super(message, options);
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details ?? {};
    this.retryable = facts.retryable ?? false;
    this.newKeySafe = facts.newKeySafe ?? false;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.nextAction = facts.nextAction;
    this.requestId = facts.requestId;
    this.executionId = facts.executionId;
    this.receiptId = facts.receiptId;
  }
}

/** A job or an execution that ended without success. */
export class RunFailedError extends CapstanError {
  override readonly name = "RunFailedError";
}

/** A job that needs a person's approval: show them `approvalUrl`. The job continues automatically once they approve. */
export class AwaitingApprovalError extends CapstanError {
  override readonly name = "AwaitingApprovalError";
  readonly jobId: string;
  readonly approvalUrl: string;

  constructor(jobId: string, approvalUrl: string, message: string, details: Record<string, unknown>) {
    super(message, {
      status: 200,
      code: "awaiting_approval",
      details,
      nextAction: "present_approval",
      executionId: jobId,
    });
    this.jobId = jobId;
    this.approvalUrl = approvalUrl;
  }
}

/** The wait ended before the job did. The job continues: wait for it again, do not submit it again. */
export class WaitTimeoutError extends CapstanError {
  override readonly name = "WaitTimeoutError";
  readonly jobId: string;

  constructor(jobId: string, seconds: number) {
    super(
      `${jobId} had not ended after ${seconds} seconds. The job continues; wait for it again instead of resubmitting.`,
      {
        status: 200,
        code: "wait_timeout",
        nextAction: "poll",
        executionId: jobId,
      },
    );
    this.jobId = jobId;
  }
}

/** Bytes that do not match the listed hash, or have none. */
export class IntegrityError extends CapstanError {
  override readonly name = "IntegrityError";

  constructor(message: string, details: Record<string, unknown>) {
    super(message, { status: 200, code: "integrity", details });
  }
}

/** A webhook that the service did not sign, or that was changed or is too old. */
export class WebhookSignatureError extends CapstanError {
  override readonly name = "WebhookSignatureError";

  constructor(message: string) {
    super(message, { status: 0, code: "webhook_signature" });
  }
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const number = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** Statuses that may be temporary, unless the response says otherwise. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);
/** Statuses of a request that was refused before anything ran. */
const REFUSED = new Set([400, 401, 402, 403, 404, 405, 410, 413, 415, 422]);

/**
 * The error of a response: from `{detail: {code, message, …}}`, `{error: …}`, a list of validation errors, or any text.
 * `isOnly`: no earlier attempt of this request can have run.
 */
export function errorOf(response: Response, body: string, isOnly = true): CapstanError {
  const parsed = parse(body);
  const outer = isObject(parsed) ? parsed : {};
  const said = isObject(outer["detail"])
    ? outer["detail"]
    : isObject(outer["error"])
      ? outer["error"]
      : outer;
  const issues = Array.isArray(outer["detail"]) ? outer["detail"].filter(isObject) : null;
  const details = issues ? { issues } : isObject(said["details"]) ? said["details"] : rest(said);
  const retryable = said["retryable"];
  const executionId = text(said["executionId"]) ?? text(details["executionId"]);
  return new CapstanError(
    issues ? sentenceOf(issues) : (text(said["message"]) ?? text(outer["detail"]) ?? plain(response, body)),
    {
      status: response.status,
      code: text(said["code"]) ?? (issues ? "ValidationFailed" : `HTTP_${response.status}`),
      details,
      retryable: typeof retryable === "boolean" ? retryable : PASSING.has(response.status),
      newKeySafe: isOnly && executionId === undefined && REFUSED.has(response.status),
      retryAfterSeconds: number(said["retryAfterSeconds"]) ?? secondsOf(response.headers.get("retry-after")),
      nextAction: text(said["nextAction"]),
      requestId: response.headers.get("x-request-id") ?? undefined,
      executionId,
      receiptId: text(said["receiptId"]) ?? text(details["receiptId"]),
    },
  );
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

const rest = ({ code: _code, message: _message, ...others }: Json) => others;

function sentenceOf(issues: Json[]): string {
  const said = issues.map(({ loc, msg }) => {
    const path = Array.isArray(loc)
      ? loc.filter((part, place) => place > 0 || part !== "body").join(".")
      : "";
    return path ? `${path}: ${String(msg)}` : String(msg);
  });
  return said.join("; ");
}

const plain = (response: Response, body: string) => {
  const start = /<[a-z!]/i.test(body) ? "" : body.trim().slice(0, 200);
  return `The service responded with ${response.status}${start ? `: ${start}` : ""}.`;
};

/** Seconds of a Retry-After header, which has seconds or a date by HTTP. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

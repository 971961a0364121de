import { CapstanError, errorOf } from "./errors";

export type RetryOptions = {
  /** How often a request is sent at most; 8 when not given. */
  attempts?: number;
  /** Before the next try, times the tries made, where the service does not say; 750 when not given. */
  waitMs?: number;
  /** A longer Retry-After is not waited for, but thrown; 60 when not given. */
  longestWaitSeconds?: number;
};

export type TransportOptions = {
  /** Where the service is: `https://capstan.example.com`. */
  baseUrl: string;
  /** Sent as `Authorization: Bearer`. Without one only what is open to anybody is answered. */
  apiKey?: string | undefined;
  /** What is used in the place of the runtime's own. */
  fetch?: typeof fetch | undefined;
  retry?: RetryOptions | undefined;
};

/** Sends a request, again where that is safe, and answers with a response that is 2xx; all else is thrown. */
export type Transport = (request: Request) => Promise<Response>;

const IDEMPOTENCY = "idempotency-key";
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The way to the service. Only what cannot run twice is ever sent again: reads, and writes under an idempotency key,
 * which the service runs once however often they come. The key is in no error and in nothing that can be inspected.
 */
export function transportOf({ baseUrl, apiKey, fetch: given, retry = {} }: TransportOptions): Transport {
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError("apiKey holds a character that no key has: a line break, perhaps.");
  const base = baseOf(baseUrl);
  const { attempts = 8, waitMs = 750, longestWaitSeconds = 60 } = retry;
  const hidden = (text: string) => (apiKey ? text.replaceAll(apiKey, "[key]") : text);

  async function once(request: Request): Promise<Response> {
    let response: Response;
    try {
      response = await (given ?? fetch)(request);
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      throw unreachable(base, cause, hidden);
    }
    if (response.ok) return response;
    throw errorOf(response, hidden(await response.text().catch(() => "")));
  }

  return async (request) => {
    // The key goes to this service alone, whatever address a request was made for.
    if (apiKey !== undefined && isWithin(request.url, base))
      request.headers.set("authorization", `Bearer ${apiKey}`);
    const isRepeatable = SAFE.has(request.method) || request.headers.has(IDEMPOTENCY);
    for (let tries = 1; ; tries++) {
      try {
        return await once(isRepeatable ? request.clone() : request);
      } catch (error) {
        if (!isRepeatable || tries >= attempts || !isPassing(error)) throw error;
        const seconds = error.retryAfterSeconds ?? (waitMs * tries) / 1000;
        if (seconds > longestWaitSeconds) throw error;
        await sleep(seconds * 1000, request.signal);
      }
    }
  };
}

/** An error that names an execution is how that ended: under the same key it would only be told again. */
const isPassing = (error: unknown): error is CapstanError =>
  error instanceof CapstanError && error.retryable && error.executionId === undefined;

function unreachable(base: string, cause: unknown, hidden: (text: string) => string): CapstanError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : undefined;
  const why = code ?? (inner instanceof Error ? hidden(inner.message) : "no answer");
  return new CapstanError(`${base} could not be reached: ${why}.`, {
    status: 0,
    code: "Unreachable",
    details: { reason: why },
    retryable: true,
  });
}

/** The address that paths are added to. One that ends with /v1 is taken too: paths begin with that. */
export function baseOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new TypeError("baseUrl is no http or https address without a name and password.");
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

const isWithin = (url: string, base: string) => url.startsWith(`${base}/`);

/** Under one of these a submission is made once, however often it is sent. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `run-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Waits; throws the signal's reason when that comes first. */
export function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

import { CapstanError, errorOf } from "./errors";

export type RetryOptions = {
  /** The most times a request is sent; 8 by default. */
  attempts?: number;
  /** The delay before a retry if the service sends none, multiplied by the attempts made; 750 by default. */
  waitMs?: number;
  /** The error is thrown if the delay before its retry would be longer; 60 by default. */
  longestWaitSeconds?: number;
};

export type TransportOptions = {
  /** The service's URL: `https://capstan.example.com`. */
  baseUrl: string;
  /** Sent as `Authorization: Bearer`. Without it only public operations work. */
  apiKey?: string | undefined;
  /** Replaces the runtime's own `fetch`. */
  fetch?: typeof fetch | undefined;
  retry?: RetryOptions | undefined;
};

/** Sends a request, with retries where they are safe, and returns a 2xx response; anything else is thrown. */
export type Transport = (request: Request) => Promise<Response>;

const IDEMPOTENCY = "idempotency-key";
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The transport to the service. Only requests that cannot run twice are retried: reads, and writes with an idempotency key,
 * which the service runs only once. The API key is in no error and in nothing that can be inspected.
 */
export function transportOf({ baseUrl, apiKey, fetch: given, retry = {} }: TransportOptions): Transport {
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError("apiKey contains an invalid character, such as a line break.");
  const base = baseOf(baseUrl);
  const { attempts = 8, waitMs = 750, longestWaitSeconds = 60 } = retry;
  const hidden = (text: string) => (apiKey ? text.replaceAll(apiKey, "[key]") : text);

  async function once(request: Request, isOnly: boolean): Promise<Response> {
    let response: Response;
    try {
      response = await (given ?? fetch)(request);
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      throw unreachable(base, cause, hidden);
    }
    if (response.ok) return response;
    throw errorOf(response, hidden(await response.text().catch(() => "")), isOnly);
  }

  return async (request) => {
    // The key is sent only to this service, whatever URL a request has.
    if (apiKey !== undefined && isWithin(request.url, base))
      request.headers.set("authorization", `Bearer ${apiKey}`);
    const isRepeatable = SAFE.has(request.method) || request.headers.has(IDEMPOTENCY);
    for (let tries = 1; ; tries++) {
      try {
        return await once(isRepeatable ? request.clone() : request, tries === 1);
      } catch (error) {
        if (!isRepeatable || tries >= attempts || !isPassing(error)) throw error;
        const seconds = error.retryAfterSeconds ?? (waitMs * tries) / 1000;
        if (seconds > longestWaitSeconds) throw error;
        await delay(seconds * 1000, request.signal);
      }
    }
  };
}

/** An error with an execution id is that execution's result: a retry with the same key would return it again. */
const isPassing = (error: unknown): error is CapstanError =>
  error instanceof CapstanError && error.retryable && error.executionId === undefined;

function unreachable(base: string, cause: unknown, hidden: (text: string) => string): CapstanError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = inner instanceof Error && "code" in inner ? String(inner.code) : undefined;
  const why = code ?? (inner instanceof Error ? hidden(inner.message) : "no response");
  return new CapstanError(
    `${base} could not be reached: ${why}. Check the base URL and that the service is running.`,
    {
      status: 0,
      code: "Unreachable",
      details: { reason: why },
      retryable: true,
    },
  );
}

/** The URL that paths are appended to. A URL ending in /v1 is accepted too, because paths start with it. */
export function baseOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new TypeError("baseUrl must be an http or https URL without a user name and password.");
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

const isWithin = (url: string, base: string) => url.startsWith(`${base}/`);

/** A key as a header's value, one character per byte: as UTF-8 if it has characters that `fetch` cannot send in a header. */
export const asHeader = (key: string): string =>
  /[\u0100-\uffff]/.test(key) ? String.fromCharCode(...new TextEncoder().encode(key)) : key;

/** A new idempotency key, with which a submission runs only once. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `run-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Waits; throws the signal's reason if it aborts first. */
export function delay(ms: number, signal?: AbortSignal | null): Promise<void> {
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

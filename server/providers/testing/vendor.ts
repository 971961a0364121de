import type { IncomingMessage, ServerResponse } from "node:http";
import { toSecrets } from "@/server/platform/crypto/secret";
import { listen } from "@/testing/listener";
import type { ModelFacts, PortName, ProviderIo } from "../define";
import { ProviderFault } from "../define";
import type { PinApi } from "../pins";
import type { Provider } from "../provider";

/* A vendor for tests: a local HTTP server with scripted answers that records requests. */

export type Arrived = {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
  bytes: Uint8Array;
};

export type Script =
  | { status?: number; headers?: Record<string, string>; json?: unknown; text?: string; bytes?: Uint8Array }
  /** Reads the whole request, then closes the connection. */
  | "close"
  /** Reads the whole request, then resets the connection. */
  | "reset"
  /** Sends headers and half a body, then closes. */
  | "cut"
  /** Reads the request and never answers. */
  | "silent"
  /** Sends headers and half a body, then nothing more. */
  | "begun"
  /** Sends a body without end. */
  | "endless";

export type Vendor = {
  url: string;
  port: number;
  arrived: Arrived[];
  connections(): number;
  /**
   * Sets the answers to the following requests, in turn; the last one repeats. Forgets the requests recorded so far.
   */
  answer(...scripts: Script[]): void;
  stop(): Promise<void>;
};

export async function startVendor(): Promise<Vendor> {
  const arrived: Arrived[] = [];
  let scripts: Script[] = [{ json: {} }];
  const { port, connections, stop } = await listen((request, body, response, bytes) => {
    const { method = "", url: path = "", headers } = request;
    arrived.push({ method, path, headers, body, bytes });
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    if (script) play(script, response);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    arrived,
    connections,
    answer(...next) {
      scripts = next;
      arrived.length = 0;
    },
    stop,
  };
}

function play(script: Script, response: ServerResponse): void {
  if (script === "silent") return;
  if (script === "close") {
    response.socket?.destroy();
  } else if (script === "reset") {
    response.socket?.resetAndDestroy();
  } else if (script === "cut") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"id": "half', () => response.socket?.destroy());
  } else if (script === "begun") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"id": "half');
  } else if (script === "endless") {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) {
        // until the receiver's buffer is full
      }
      response.once("drain", more);
    };
    more();
  } else {
    const body = script.bytes ?? script.text ?? JSON.stringify(script.json ?? {});
    response.writeHead(script.status ?? 200, { "content-type": "application/json", ...script.headers });
    response.end(body);
  }
}

/** The parts of a ProviderIo that a test sets, with credentials as plain text. */
export type PlainIo = Partial<Omit<ProviderIo, "credentials">> & { credentials?: Record<string, string> };

/** The context of one call in a test. */
export function ioFor(
  provider: Provider,
  modelId: string,
  port: PortName,
  { baseUrl, credentials = {}, ...more }: PlainIo & { baseUrl: string },
): ProviderIo {
  const model = provider.models.find((facts: ModelFacts) => facts.id === modelId && facts.port === port);
  if (!model) throw new Error(`${provider.name} has no ${port} model ${modelId}`);
  return {
    baseUrl,
    credentials: toSecrets(credentials),
    model,
    attemptId: "att_01test",
    tier: "standard",
    signal: new AbortController().signal,
    allowPrivateAddresses: true,
    ...more,
  };
}

/** One of a provider's interfaces for pins. Throws if there is none of that name. */
export function pinApi(provider: Provider, name: string): PinApi {
  const api = provider.pins?.[name];
  if (!api) throw new Error(`${provider.name}/${name} cannot be pinned`);
  return api;
}

/** The fault of a call that must fail. Throws any other error, or if the call succeeds. */
export async function caughtFault(call: Promise<unknown>): Promise<ProviderFault> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ProviderFault) return error;
    throw error;
  }
  throw new Error("The call succeeded.");
}

/** Everything of an error that a log, a receipt or an answer could contain. */
export function everythingOf(error: Error): string {
  const cause = error.cause instanceof Error ? everythingOf(error.cause) : String(error.cause ?? "");
  return [
    error.message,
    error.stack,
    JSON.stringify(error),
    JSON.stringify(Object.entries(error)),
    cause,
  ].join("\n");
}

export type BodyStream = AsyncIterable<Uint8Array> & {
  /** The whole body at once where the host can do that cheaply; null when it is longer than `limit` bytes. */
  collect?(limit: number): Promise<Uint8Array | null>;
  /** Lets the body take this long, where the host ends those that take longer than usual. */
  allow?(ms: number): void;
};

/** Does a request have a body, by what it says of itself? Some hosts give those without one a stream all the same. */
export const announcesBody = (transferEncoding: string | undefined, contentLength: string | undefined) =>
  transferEncoding !== undefined || (contentLength !== undefined && contentLength !== "0");

/** A request, whoever received it: our own server, a Next route or a test. */
export type Incoming = {
  method: string;
  path: string;
  query: URLSearchParams;
  /** By lower-case name. */
  header(name: string): string | undefined;
  body: BodyStream | null;
  /** From the path, decoded. */
  params: Record<string, string>;
  /** Of the caller, as far as our proxies are trusted. */
  address: string;
  /** Aborted when the caller went away. */
  signal: AbortSignal;
};

/** An answer, whoever sends it. Header names are in lower case. */
export type Outgoing = {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | AsyncIterable<Uint8Array> | null;
};

const REPLY = Symbol("reply");
const BYTES = Symbol("bytes");

/** An output with its own status or headers. */
export type Reply<Output> = {
  [REPLY]: true;
  output: Output;
  status?: number;
  headers?: Record<string, string>;
};

/** An answer that is not JSON, from an endpoint that usually answers JSON. */
export type Bytes = Outgoing & { [BYTES]: true };

/** Answers `output` with a status or headers of its own. */
export function reply<Output>(
  output: Output,
  { status, headers }: { status?: number; headers?: Record<string, string> } = {},
): Reply<Output> {
  return { [REPLY]: true, output, status, headers };
}

/** Answers bytes as they are: ready JSON, a file, a stream. */
export function bytes(outgoing: Partial<Outgoing>): Bytes {
  return { [BYTES]: true, status: 200, headers: {}, body: null, ...outgoing };
}

export function isReply(result: unknown): result is Reply<unknown> {
  return typeof result === "object" && result !== null && REPLY in result;
}

export function isBytes(result: unknown): result is Bytes {
  return typeof result === "object" && result !== null && BYTES in result;
}

/** Marks an endpoint whose answer is no JSON; its `run` returns an Outgoing. */
export type Raw = { rawMediaType: string };

export function raw(mediaType: string): Raw {
  return { rawMediaType: mediaType };
}

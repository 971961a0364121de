export type BodyStream = AsyncIterable<Uint8Array> & {
  /** The whole body at once, if the host can do that cheaply; null when it is longer than `limit` bytes. */
  collect?(limit: number): Promise<Uint8Array | null>;
  /** Extends the time that the host allows for receiving the body. */
  allow?(ms: number): void;
};

/** True if the headers announce a body. Some hosts provide a stream even if there is none. */
export const announcesBody = (transferEncoding: string | undefined, contentLength: string | undefined) =>
  transferEncoding !== undefined || (contentLength !== undefined && contentLength !== "0");

/** A request, received by our own server, a Next route or a test. */
export type Incoming = {
  method: string;
  path: string;
  query: URLSearchParams;
  /** A header by lower-case name, with its lines joined. Headers that carry text are read with `textHeader`. */
  header(name: string): string | undefined;
  /** The values of a header's lines, by lower-case name, as they were sent. */
  lines(name: string): readonly string[];
  body: BodyStream | null;
  /** Path parameters, decoded. */
  params: Record<string, string>;
  /** The caller's address, as far as our proxies are trusted. */
  address: string;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
};

/** A response, sent by any host. Header names are in lower case. */
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

/** A finished response of an endpoint with a schema: sent as it is, without a check against the schema. */
export type RawResponse = Outgoing & { [BYTES]: true };

/** Returns `output` with its own status or headers. */
export function reply<Output>(
  output: Output,
  { status, headers }: { status?: number; headers?: Record<string, string> } = {},
): Reply<Output> {
  return { [REPLY]: true, output, status, headers };
}

/** Returns bytes as they are: serialized JSON, a file, a stream. */
export function bytes(outgoing: Partial<Outgoing>): RawResponse {
  return { [BYTES]: true, status: 200, headers: {}, body: null, ...outgoing };
}

export function isReply(result: unknown): result is Reply<unknown> {
  return typeof result === "object" && result !== null && REPLY in result;
}

export function isBytes(result: unknown): result is RawResponse {
  return typeof result === "object" && result !== null && BYTES in result;
}

/** The media type of a response without a schema. An endpoint with this output returns an Outgoing from `run`. */
export type Raw = { rawMediaType: string };

export function raw(mediaType: string): Raw {
  return { rawMediaType: mediaType };
}

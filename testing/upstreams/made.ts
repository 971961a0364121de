import type { Answer, Expected } from "./upstream";

/* Cases that return no text: vectors, pictures, sound and meshes, returned at once or by a queue that is polled. */

/** The provider and interface that produce the result. */
export type Maker =
  | "embeddings"
  | "batch-embeddings"
  | "images"
  | "gemini-images"
  | "speech"
  | "elevenlabs"
  | "fal"
  | "replicate"
  | "meshy";

export type MadeExpected = Expected & {
  /** The vectors of an embedding case. */
  vectors?: number[][];
  /** The number of produced files. */
  files?: number;
  /** The media type of each file. */
  mediaType?: string;
};

export type MadeCase = {
  /** A name in lower case with hyphens; it occurs in the request's text, and in the ids that a queue returns. */
  name: string;
  /** Public reports of servers that answer this way, or the standard or page that allows it. */
  from: readonly string[];
  maker: Maker;
  /** Members that replace the usual ones in the capability's input. */
  input?: Record<string, unknown>;
  /** The responses to each kind of request: a list is used in turn, and its last one repeats. */
  plays: { submit?: Played; status?: Played; result?: Played; file?: Played };
  expect: MadeExpected;
  /** Expectations that differ on a managed account. */
  managed?: MadeExpected;
};
export type Played = Answer | readonly Answer[];

/** Replaced by the server's address in responses. */
export const HERE = "http://upstream.test";

/** A name without hyphens, for vendors whose ids have none. */
export const idOf = (name: string): string => name.replaceAll("-", "");

export const json = (body: object, more: Omit<Answer, "body"> = {}): Answer => ({ ...more, body });
/** An error page of a proxy. */
export const page = (status: number): Answer => ({
  status,
  headers: { "content-type": "text/html" },
  body: ["<!doctype html><title>Bad gateway</title>"],
});
export const bytes = (content: Uint8Array, mediaType: string): Answer => ({
  headers: { "content-type": mediaType },
  body: content.byteLength === 0 ? [] : [content],
});

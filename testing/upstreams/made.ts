import type { Answer, Expected } from "./upstream";

/* Cases of what is no text: vectors, pictures, sound and meshes, made at once or by a queue that is asked. */

/** What makes a thing, and by which interface. */
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
  /** The vectors, of embeddings. */
  vectors?: number[][];
  /** How many files were made. */
  files?: number;
  /** The media type of each file. */
  mediaType?: string;
};

export type MadeCase = {
  /** Lower case with hyphens: named in the request's words, and in the ids that a queue gives. */
  name: string;
  /** Public reports of servers that answer so, or the standard or page that allows it. */
  from: readonly string[];
  maker: Maker;
  /** Members of the capability's input in place of the usual ones. */
  input?: Record<string, unknown>;
  /** The answer to each kind of request; of several the next each time, and then the last one again. */
  plays: { submit?: Played; status?: Played; result?: Played; file?: Played };
  expect: MadeExpected;
  /** What is different on a managed account. */
  managed?: MadeExpected;
};
export type Played = Answer | readonly Answer[];

/** Stands for the address of the server in answers. */
export const HERE = "http://upstream.test";

/** Names without hyphens, for vendors whose ids have none. */
export const idOf = (name: string): string => name.replaceAll("-", "");

export const json = (body: object, more: Omit<Answer, "body"> = {}): Answer => ({ ...more, body });
/** What a proxy on the way says. */
export const page = (status: number): Answer => ({
  status,
  headers: { "content-type": "text/html" },
  body: ["<!doctype html><title>Bad gateway</title>"],
});
export const bytes = (content: Uint8Array, mediaType: string): Answer => ({
  headers: { "content-type": mediaType },
  body: content.byteLength === 0 ? [] : [content],
});

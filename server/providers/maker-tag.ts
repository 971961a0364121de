import { sha256Hex } from "@/server/platform/text/canonical";

/*
 * The tag that an id of ours ends with: who made the opaque members of the message or the call, and in which execution. It is a
 * name, not a proof: members are sent to nobody but the maker that their tag names, and a caller may write to that server anyway.
 */

/** A model behind a connection; without a credential it is the operator's. */
export type Maker = { credentialId?: string | undefined; provider: string; model: string };

/** Under which of the two usual names a server gave its reasoning; clients may bring it back under the other. */
export type ReasoningName = "reasoning" | "reasoning_content";

export type Tag = {
  /** The id that the server gave. */
  id: string;
  /** From 2 on: the server gave this id more than once in the message. */
  number: number;
  /** The ULID of the execution. */
  execution: string;
  /** A hash of the maker. */
  maker: string;
  reasoning: ReasoningName | null;
};

export const hashOfMaker = ({ credentialId = "operator", provider, model }: Maker): string =>
  sha256Hex(JSON.stringify([credentialId, provider, model])).slice(0, 16);

const LETTERS = { reasoning: "r", reasoning_content: "c" } as const;

export const tagged = ({ id, number, execution, maker, reasoning }: Tag): string =>
  `${id}_cpt${number > 1 ? number : ""}_${execution}_${maker}${reasoning ? LETTERS[reasoning] : ""}`;

const TAGGED = /^(.*)_cpt(\d{0,4})_([0-9a-z]{26})_([0-9a-f]{16})([rc]?)$/s;

/** The tag of an id; null: it has none. */
export function tagOf(id: string): Tag | null {
  const [found, own = "", number, execution = "", maker = "", letter] = TAGGED.exec(id) ?? [];
  if (found === undefined) return null;
  const reasoning = letter === "r" ? "reasoning" : letter === "c" ? "reasoning_content" : null;
  return { id: own, number: Number(number || 1), execution, maker, reasoning };
}

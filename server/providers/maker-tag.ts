import { sha256Hex } from "@/server/platform/text/canonical";

/*
 * Ids of ours end with a tag: the maker of the opaque members, and the execution they come from. The tag proves
 * nothing, and need not: members are sent only to the maker in their tag, and a caller can send anything to that server
 * anyway.
 */

/** A model behind a connection; without a credential, the connection is the operator's. */
export type Maker = { credentialId?: string | undefined; provider: string; model: string };

/** The name under which a server returned its reasoning. Clients may send it back under the other one. */
export type ReasoningName = "reasoning" | "reasoning_content";

export type Tag = {
  /** The id that the server assigned. */
  id: string;
  /** 1, or more if the server used this id several times within the message. */
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

/** The tag of an id; null if it has none. */
export function tagOf(id: string): Tag | null {
  const [found, own = "", number, execution = "", maker = "", letter] = TAGGED.exec(id) ?? [];
  if (found === undefined) return null;
  const reasoning = letter === "r" ? "reasoning" : letter === "c" ? "reasoning_content" : null;
  return { id: own, number: Number(number || 1), execution, maker, reasoning };
}

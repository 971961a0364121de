import type { Registered } from "../statement";

export function checkStatements(
  connectionString: string,
  statements: readonly Registered[],
  first?: string,
): Promise<string[]>;

export type Reach = { name: string; kind: "none" | "tenant" | "id" | "neither"; loose: string[] };

export function readReach(
  connectionString: string,
  statements: readonly Pick<Registered, "name" | "text">[],
): Promise<Reach[]>;

import type { Registered } from "../statement";

export function checkStatements(
  connectionString: string,
  statements: readonly Registered[],
  first?: string,
): Promise<string[]>;

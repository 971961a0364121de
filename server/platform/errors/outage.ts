/**
 * Thrown if our own file store cannot be reached, is full or refuses us. The store's message is only logged, and contains no
 * credential.
 */
export class StoreOutage extends Error {
  override readonly name = "StoreOutage";
}

/** True if our own storage could not be reached: the database, or the file store. */
export const isOutage = (error: unknown): boolean => error instanceof StoreOutage || isDatabaseOutage(error);

/**
 * True if the database could not be reached, had no connection left, or stopped during a statement. Checks the codes of sockets,
 * of PostgreSQL (shutdown, connection, too many connections) and of Prisma, and PostgreSQL's code beneath one of Prisma, up to
 * five causes deep.
 */
export function isDatabaseOutage(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 5) return false;
  if ("code" in error && typeof error.code === "string" && OUTAGES.has(error.code))
    return isOfDatabase(error);
  if (OUTAGES.has(codeBeneath(error))) return true;
  // pg has no code for these.
  if (/^(Connection terminated|timeout exceeded when trying to connect)/.test(error.message)) return true;
  if (error instanceof AggregateError) return error.errors.some((each) => isDatabaseOutage(each, depth + 1));
  return isDatabaseOutage(error.cause, depth + 1);
}

const OUTAGES = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH", "EPIPE"],
  ...["57P01", "57P02", "57P03", "08000", "08001", "08003", "08004", "08006", "53300"],
  ...["P1001", "P1002", "P1008", "P1017", "P2024"],
]);

/** PostgreSQL's code in an error of Prisma Client, which gives the error a code of its own; empty if there is none. */
function codeBeneath(error: Error): string {
  const { meta } = error as { meta?: { driverAdapterError?: { cause?: { originalCode?: string } } } }; // as @prisma/adapter-pg makes it
  return meta?.driverAdapterError?.cause?.originalCode ?? "";
}

/** Other errors can have the same codes, such as ENOENT for a file. A connection's error has no `syscall`, or one of these. */
function isOfDatabase(error: Error): boolean {
  if (!("syscall" in error)) return true;
  return (
    error.syscall === "connect" ||
    error.syscall === "getaddrinfo" ||
    error.syscall === "read" ||
    error.syscall === "write"
  );
}

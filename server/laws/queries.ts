/** A query that is not a statement: it has its own text, and it may assert the type of its rows. */
const QUERY = /\.query\s*[<(]/g;
/** Commands to a connection, which read and write no table. */
const SESSION =
  /^\s*["'`](BEGIN|COMMIT|ROLLBACK|SAVEPOINT|SET|LISTEN|UNLISTEN|SELECT pg_(try_)?advisory_|SELECT pg_notify\()/;

/** The models that each folder reads and writes by Prisma Client: plain rows of people and settings. All else is a statement. */
export const PRISMA_PLACES: Readonly<Record<string, readonly string[]>> = {
  "server/domain/organizations": ["apiKey", "organization", "project", "session", "user"],
  "server/domain/sessions": ["deviceLogin", "user"],
};

const NOT_CODE = /\/\*[\s\S]*?\*\/|\/\/.*$|^import [^;]*;/gm;

/** The members of Prisma Client that this text uses; the client as a value is an empty name. */
export const membersOfPrisma = (text: string): string[] =>
  [...text.replaceAll(NOT_CODE, "").matchAll(/\b(?:prisma|people)\b(?:\.(\$?\w+))?/g)].map(
    ([, member = ""]) => member,
  );

/** The uses of Prisma Client in a file beyond the models of its folder: other models, transactions and SQL texts. */
export function faultsOfPrisma(file: string, text: string): string[] {
  const [, models = []] =
    Object.entries(PRISMA_PLACES).find(([folder]) => file.startsWith(`${folder}/`)) ?? [];
  return membersOfPrisma(text)
    .filter((member) => !models.includes(member))
    .map((member) => `${file}: ${member || "the client as a value"}`);
}

/** Counts the queries in this text that are neither statements nor commands to a connection. */
export const countQueries = (text: string): number =>
  [...text.matchAll(QUERY)].filter(({ 0: call, index }) => !SESSION.test(text.slice(index + call.length)))
    .length;

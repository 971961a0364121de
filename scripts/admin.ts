import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";

/*
 * The admin command: what the panel can do, for scripts. It works on the database of the running installation
 * directly, so whoever may read the data directory (or knows DATABASE_URL) is its operator.
 */

const USAGE = `npm run admin -- <noun> <verb> [--flags] [--json]

  organization create --name <name>
  organization list
  project create --name <name> [--organization <id>]
  project list [--organization <id>]
  user create --email <address> [--organization <id>] [--role owner|admin|member|viewer] [--name <name>]
  user list [--organization <id>]
  key create --project <id> --name <name> [--scopes a,b] [--expires-in 30d] [--environment development]
  key create --organization <id> --name <name> …      a key of every project of the organization
  key list [--project <id>] [--include-revoked]
  key revoke --key <id>
  operator grant --email <address>
  operator list

Without --organization the oldest one is taken. --expires-in takes seconds or a number with s, m, h or d.
With --json, standard output is one JSON value and nothing else.`;

/** Something the caller can put right; told without a stack. */
class Complaint extends Error {}

const FLAGS = {
  name: { type: "string" },
  organization: { type: "string" },
  project: { type: "string" },
  email: { type: "string" },
  role: { type: "string" },
  key: { type: "string" },
  scopes: { type: "string" },
  environment: { type: "string" },
  "expires-in": { type: "string" },
  "include-revoked": { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

type Flags = ReturnType<typeof readArguments>["values"];

function readArguments() {
  try {
    return parseArgs({ options: FLAGS, allowPositionals: true });
  } catch (error) {
    throw new Complaint(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

/** The database: DATABASE_URL, else the one of the installation that runs over the data directory. */
function findDatabase(): string {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
  try {
    return z.object({ databaseUrl: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).databaseUrl;
  } catch {
    throw new Complaint(
      `Nothing runs here: ${file} is not there or cannot be read. Start it with npm run up, or set DATABASE_URL.`,
    );
  }
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parts = /^(\d{1,9})([smhd]?)$/.exec(text);
  if (!parts) throw new Complaint("--expires-in takes seconds or a number with s, m, h or d, e.g. 30d.");
  return Number(parts[1]) * UNIT_SECONDS[parts[2] || "s"]!;
}

/** What was read from flags, or a sentence that names the flag. */
function check<S extends z.ZodType>(schema: S, values: z.input<S>): z.output<S> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const names: Record<string, string> = {
    organizationId: "organization",
    projectId: "project",
    displayName: "name",
    expiresInSeconds: "expires-in",
  };
  const lines = parsed.error.issues.map((issue) => {
    const field = String(issue.path[0] ?? "");
    return field ? `--${names[field] ?? field}: ${issue.message}` : issue.message;
  });
  throw new Complaint(lines.join("\n"));
}

function oneOf<T extends string>(flag: string, allowed: readonly T[], given: string): T {
  const found = allowed.find((each) => each === given);
  if (!found) throw new Complaint(`--${flag}: "${given}" is none of ${allowed.join(", ")}.`);
  return found;
}

const needed = (value: string | undefined, flag: string) => {
  if (!value) throw new Complaint(`--${flag} is needed.`);
  return value;
};

async function perform(command: string, flags: Flags): Promise<unknown> {
  // Loaded late: these modules open the database that findDatabase() has named.
  const domain = await import("@/server/domain/organizations");
  const contract = await import("@/server/contract/organizations");
  const { systemCtx } = await import("@/server/domain/ctx");
  const ctx = systemCtx("admin");
  switch (command) {
    case "organization create":
      return domain.createOrganization(
        ctx,
        check(contract.CreateOrganization, { name: needed(flags.name, "name") }),
      );
    case "organization list":
      return { items: await domain.listOrganizations(ctx) };
    case "project create":
      return domain.createProject(
        ctx,
        check(contract.CreateProject, {
          name: needed(flags.name, "name"),
          organizationId: flags.organization,
        }),
      );
    case "project list":
      return { items: await domain.listProjects(ctx, flags.organization) };
    case "user create":
      return domain.createUser(
        ctx,
        check(contract.CreateUser, {
          email: needed(flags.email, "email"),
          organizationId: flags.organization,
          displayName: flags.name,
          ...(flags.role === undefined ? {} : { role: oneOf("role", contract.Role.options, flags.role) }),
        }),
      );
    case "user list":
      return { items: await domain.listUsers(ctx, flags.organization) };
    case "key create":
      return domain.createKey(
        ctx,
        check(contract.CreateApiKey, {
          name: needed(flags.name, "name"),
          projectId: flags.project,
          organizationId: flags.project ? undefined : flags.organization,
          environment: flags.environment,
          scopes: flags.scopes
            ?.split(",")
            .map((scope) => oneOf("scopes", contract.Scope.options, scope.trim())),
          expiresInSeconds: readSeconds(flags["expires-in"]),
        }),
      );
    case "key list":
      return {
        items: await domain.listKeys(ctx, {
          projectId: flags.project,
          includeRevoked: flags["include-revoked"] ?? false,
        }),
      };
    case "key revoke":
      return domain.revokeKey(ctx, needed(flags.key, "key"));
    case "operator grant":
      return domain.grantOperator(
        ctx,
        check(contract.GrantOperator, { email: needed(flags.email, "email") }),
      );
    case "operator list":
      return { items: await domain.listOperators(ctx) };
    default:
      throw new Complaint(`${command ? `There is no "${command}".` : "What shall be done?"}\n\n${USAGE}`);
  }
}

/** For people: one line a field, or a table of what a list holds. */
function print(result: unknown): void {
  if (typeof result !== "object" || result === null) console.log(result);
  else if (!("items" in result)) {
    const width = Math.max(...Object.keys(result).map((name) => name.length));
    for (const [name, value] of Object.entries(result)) console.log(`${name.padEnd(width)}  ${shown(value)}`);
  } else if (Array.isArray(result.items)) printTable(result.items);
}

function printTable(items: Record<string, unknown>[]): void {
  if (items.length === 0) console.log("None.");
  const names = Object.keys(items[0] ?? {});
  const lines = [names, ...items.map((item) => names.map((name) => shown(item[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) {
    console.log(USAGE);
    return;
  }
  process.env.DATABASE_URL = findDatabase();
  process.env.LOG_LEVEL ??= "error";
  const result = await perform(positionals.join(" "), values);
  if (values.json) console.log(JSON.stringify(result));
  else print(result);
  const { closeDatabase } = await import("@/server/db");
  await closeDatabase();
}

main().catch((error) => {
  const isExpected =
    error instanceof Complaint ||
    (error instanceof Error && ["Fault", "ValidationFault"].includes(error.name));
  const isUnreachable = error instanceof Error && "code" in error && error.code === "P1001";
  if (isUnreachable) console.error("The database does not answer. Is the installation running?");
  else console.error(isExpected ? error.message : error);
  process.exit(isExpected ? 2 : 1);
});

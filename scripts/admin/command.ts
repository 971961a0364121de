import { parseArgs } from "node:util";
import type { z } from "zod";
import { MaturityRating, RetentionRequirement } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";
import * as contract from "@/server/contract/organizations";
import * as billing from "@/server/domain/billing";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { resendMail, testMail } from "@/server/domain/notifications";
import * as domain from "@/server/domain/organizations";
import { resetSignIn } from "@/server/domain/sessions";
import { listSigningKeys, rotateSigningKey } from "@/server/domain/signing";
import * as vault from "@/server/domain/vault";
import { redactText } from "@/server/platform/crypto/redact-tokens";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { aligned } from "../launch/table";
import { BUDGET_FLAGS, performBudgets, type Reading } from "./budgets";
import { performPlan } from "./plans";
import { performRestores, RESTORE_FLAGS } from "./restores";
import { USAGE } from "./usage";

/** A mistake that the caller can correct; reported without a stack. */
class Complaint extends Error {}

const FLAGS = {
  name: { type: "string" },
  organization: { type: "string" },
  project: { type: "string" },
  email: { type: "string" },
  role: { type: "string" },
  plan: { type: "string" },
  limits: { type: "string" },
  features: { type: "string" },
  maturity: { type: "string" },
  retention: { type: "string" },
  key: { type: "string" },
  job: { type: "string" },
  mail: { type: "string" },
  to: { type: "string" },
  scopes: { type: "string" },
  environment: { type: "string" },
  "expires-in": { type: "string" },
  "include-revoked": { type: "boolean" },
  "amount-micros": { type: "string" },
  reason: { type: "string" },
  test: { type: "boolean" },
  ...BUDGET_FLAGS,
  ...RESTORE_FLAGS,
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

type Flags = ReturnType<typeof readArguments>["values"];

/** The flags of each command besides --json and --help, read from the usage: a line names the command and then its flags. */
export const COMMANDS: Record<string, readonly string[]> = {};
for (const line of USAGE.split("\n")) {
  const [, command, rest = ""] = /^ {2}([a-z-]+(?: [a-z-]+)*?)(?=$| {2}| [-[(])(.*)/.exec(line) ?? [];
  const [flags = ""] = rest.split(/ {3}/); // a description follows three spaces
  if (command)
    COMMANDS[command] = [
      ...new Set([...(COMMANDS[command] ?? []), ...(flags.match(/(?<=--)[a-z-]+/g) ?? [])]),
    ];
}

/** A flag that a command does not use is an error, never ignored. */
function refuseForeignFlags(command: string, flags: Flags): void {
  const taken = [...(COMMANDS[command] ?? []), "json", "help"];
  const foreign = Object.keys(flags).filter((name) => !taken.includes(name));
  if (foreign.length === 0) return;
  const allowed = taken.map((name) => `--${name}`).join(", ");
  throw new Complaint(
    `${command} does not take ${foreign.map((name) => `--${name}`).join(", ")}. It takes ${allowed}.`,
  );
}

function readArguments(args: string[]) {
  try {
    return parseArgs({ args, options: FLAGS, allowPositionals: true });
  } catch (error) {
    throw new Complaint(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: DAY_SECONDS };

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parts = /^(\d{1,9})([smhd]?)$/.exec(text);
  if (!parts) throw new Complaint("--expires-in takes seconds or a number with s, m, h or d, e.g. 30d.");
  const seconds = Number(parts[1]) * UNIT_SECONDS[parts[2] || "s"]!;
  if (!contract.CreateApiKey.shape.expiresInSeconds.safeParse(seconds).success)
    throw new Complaint("--expires-in must be from one second to ten years.");
  return seconds;
}

function readMicros(text: string): number {
  const micros = Number(text);
  if (!/^-?\d{1,15}$/.test(text) || micros === 0)
    throw new Complaint(
      "--amount-micros must be a whole number of US dollar micros other than 0: 5000000 is $5.",
    );
  return micros;
}

/** `Transient=7,ProductManaged=standard`: days by retention requirement, null for the standard. */
function readRetention(text: string | undefined) {
  if (text === undefined) return undefined;
  const days: Partial<Record<z.output<typeof RetentionRequirement>, number | null>> = {};
  for (const part of text.split(",")) {
    const [name = "", value = ""] = part.split("=").map((each) => each.trim());
    const requirement = oneOf("retention", RetentionRequirement.options, name);
    const isNumber = /^\d{1,4}(\.\d{1,6})?$/.test(value) && Number(value) > 0;
    if (!isNumber && value !== "standard")
      throw new Complaint(`--retention: ${name} must be a number of days, or standard.`);
    days[requirement] = isNumber ? Number(value) : null;
  }
  return days;
}

/** Returns the parsed flags; throws a Complaint that names the wrong flag. */
function check<S extends z.ZodType>(schema: S, values: z.input<S>): z.output<S> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const names: Record<string, string> = {
    organizationId: "organization",
    projectId: "project",
    displayName: "name",
    expiresInSeconds: "expires-in",
    amountMicros: "amount-micros",
    chargedMicros: "charged-micros",
    ceilingMicros: "ceiling-micros",
    budgetId: "budget",
  };
  const lines = parsed.error.issues.map((issue) => {
    const field = String(issue.path[0] ?? "");
    return field ? `--${names[field] ?? field}: ${issue.message}` : issue.message;
  });
  throw new Complaint(lines.join("\n"));
}

function oneOf<T extends string>(flag: string, allowed: readonly T[], given: string): T {
  const found = allowed.find((each) => each === given);
  if (!found) throw new Complaint(`--${flag}: "${given}" is not one of ${allowed.join(", ")}.`);
  return found;
}

/** Throws a Complaint if the project does not belong to the organization. */
async function requireProjectIn(projectId: string, organizationId: string): Promise<void> {
  const projects = await domain.listProjects(systemCtx("admin"), organizationId);
  if (!projects.some((project) => project.projectId === projectId))
    throw new Complaint("--project: this project is not in this --organization.");
}

const needed = (value: string | undefined, flag: string) => {
  if (!value) throw new Complaint(`--${flag} is required.`);
  return value;
};

const reading: Reading = {
  needed,
  oneOf,
  check,
  complain: (message) => {
    throw new Complaint(message);
  },
};

/** A job's status, without its content. */
const decided = ({ jobId, projectId, status }: Job) => ({ jobId, projectId, status });

type Ctx = ReturnType<typeof systemCtx>;

const VERBS: Record<string, (ctx: Ctx, flags: Flags) => Promise<object> | object> = {
  "organization create": (ctx, flags) =>
    domain.createOrganization(ctx, check(contract.CreateOrganization, { name: needed(flags.name, "name") })),
  "organization list": async (ctx) => ({ items: await domain.listOrganizations(ctx) }),
  "organization plan": (ctx, flags) => performPlan(ctx, flags, reading),
  "project create": (ctx, flags) =>
    domain.createProject(
      ctx,
      check(contract.CreateProject, {
        name: needed(flags.name, "name"),
        organizationId: flags.organization,
      }),
    ),
  "project list": async (ctx, flags) => ({ items: await domain.listProjects(ctx, flags.organization) }),
  async "project set"(ctx, flags) {
    if (!flags.maturity && !flags.retention) throw new Complaint("Set --maturity, --retention or both.");
    return domain.changeProject(
      ctx,
      check(contract.ChangeProject, {
        projectId: needed(flags.project, "project"),
        ...(flags.maturity === undefined
          ? {}
          : {
              maturityRating:
                flags.maturity === "none" ? null : oneOf("maturity", MaturityRating.options, flags.maturity),
            }),
        retentionDays: readRetention(flags.retention),
      }),
    );
  },
  "user create": (ctx, flags) =>
    domain.createUser(
      ctx,
      check(contract.CreateUser, {
        email: needed(flags.email, "email"),
        organizationId: flags.organization,
        displayName: flags.name,
        ...(flags.role === undefined ? {} : { role: oneOf("role", contract.Role.options, flags.role) }),
      }),
    ),
  "user list": async (ctx, flags) => ({ items: await domain.listUsers(ctx, flags.organization) }),
  "user reset": (ctx, flags) => resetSignIn(ctx, needed(flags.email, "email")),
  async "key create"(ctx, flags) {
    if (!flags.project && !flags.organization)
      throw new Complaint("--project is required, or --organization for a key of all its projects.");
    if (flags.project && flags.organization) await requireProjectIn(flags.project, flags.organization);
    return domain.createKey(
      ctx,
      check(contract.CreateApiKey, {
        name: needed(flags.name, "name"),
        projectId: flags.project,
        organizationId: flags.project ? undefined : flags.organization,
        environment: flags.environment,
        scopes: flags.scopes
          ?.split(",")
          .map((scope) => oneOf("scopes", contract.KeyScope.options, scope.trim())),
        expiresInSeconds: readSeconds(flags["expires-in"]),
      }),
    );
  },
  "key list": async (ctx, flags) => ({
    items: await domain.listKeys(ctx, {
      projectId: flags.project,
      organizationId: flags.organization,
      includeRevoked: flags["include-revoked"] ?? false,
    }),
  }),
  "key revoke": (ctx, flags) => domain.revokeKey(ctx, needed(flags.key, "key")),
  "operator grant": (ctx, flags) =>
    domain.grantOperator(ctx, check(contract.GrantOperator, { email: needed(flags.email, "email") })),
  "operator list": async (ctx) => ({ items: await domain.listOperators(ctx) }),
  "job attention list": async (ctx) => ({ items: await jobs.listAttention(ctx) }),
  "job attention retry": async (ctx, flags) => decided(await jobs.retryStep(ctx, needed(flags.job, "job"))),
  "job attention accept": async (ctx, flags) => decided(await jobs.acceptAsIs(ctx, needed(flags.job, "job"))),
  "job attention fail": async (ctx, flags) => decided(await jobs.failWaiting(ctx, needed(flags.job, "job"))),
  "mail resend": (ctx, flags) => resendMail(ctx, needed(flags.mail, "mail")),
  async "mail test"(_ctx, flags) {
    const to = needed(flags.to, "to");
    const outcome = await testMail(to);
    if (!outcome) throw new Complaint("No mail server is set. Set SMTP_URL and MAIL_FROM, then try again.");
    if (outcome.state !== "accepted") throw new Complaint(`The test mail was not sent. ${outcome.reason}`);
    return { to, state: outcome.state };
  },
  "wallet show": (ctx, flags) => billing.wallet(ctx, needed(flags.organization, "organization")),
  async "wallet credit"(ctx, flags) {
    const credit = {
      organizationId: needed(flags.organization, "organization"),
      amountMicros: readMicros(needed(flags["amount-micros"], "amount-micros")),
      isTest: flags.test ?? false,
      reason: needed(flags.reason?.trim(), "reason"),
    };
    return { ...(await billing.credit(ctx, credit)), ...credit };
  },
  "ledger check": (ctx, flags) => billing.checkLedger(ctx, flags.organization),
  "signing-key list": async (ctx) => ({ items: await listSigningKeys(ctx) }),
  "signing-key rotate": (ctx) => rotateSigningKey(ctx),
  "vault status": (ctx) => vault.vaultStatus(ctx),
  "vault rotate": (ctx) => vault.rotateKey(ctx),
  "vault rewrap": (ctx) => vault.rewrapAll(ctx),
  "vault drop": (ctx) => vault.dropOldKeys(ctx),
};

async function perform(command: string, flags: Flags): Promise<object> {
  const ctx = systemCtx("admin");
  if (command in COMMANDS) refuseForeignFlags(command, flags);
  if (Object.hasOwn(VERBS, command)) return VERBS[command]!(ctx, flags);
  const done =
    (await performBudgets(ctx, command, flags, reading)) ??
    (await performRestores(ctx, command, flags, reading));
  if (done) return done;
  throw new Complaint(`${command ? `Unknown command "${command}".` : "Name a command."}\n\n${USAGE}`);
}

/**
 * The command's output and exit code: 0 success, 1 a check found a problem, 2 a mistake that the caller can correct.
 * Anything else is thrown.
 */
type Outcome = { code: 0 | 1 | 2; out: string; error: string };

/** Runs one command line of the admin command against this process's database. */
export async function runAdmin(args: string[]): Promise<Outcome> {
  try {
    const { values, positionals } = readArguments(args);
    if (values.help) return { code: 0, out: USAGE, error: "" };
    const result = await perform(positionals.join(" "), values);
    const code = "isBalanced" in result && !result.isBalanced ? 1 : 0;
    return { code, out: values.json ? JSON.stringify(result) : shownWhole(result), error: "" };
  } catch (error) {
    const isExpected =
      error instanceof Complaint || error instanceof Fault || error instanceof ValidationFault;
    if (!isExpected) throw error;
    return { code: 2, out: "", error: redactText(error.message) };
  }
}

/** Formats a result for people: one line per field, or a table for a list. */
function shownWhole(result: object): string {
  if (!("items" in result && Array.isArray(result.items)))
    return aligned(Object.entries(result).map(([name, value]) => [name, shown(value)])).join("\n");
  const items: Record<string, unknown>[] = result.items;
  if (items.length === 0) return "None.";
  const names = Object.keys(items[0] ?? {});
  return aligned([names, ...items.map((item) => names.map((name) => shown(item[name])))]).join("\n");
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(shown).join(", ") || "-";
  if (typeof value === "object")
    return "display" in value
      ? shown(value.display)
      : "slug" in value
        ? shown(value.slug)
        : Object.entries(value)
            .map(([name, each]) => `${name}=${shown(each)}`)
            .join(" ");
  return String(value);
}

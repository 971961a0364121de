import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { access } from "@/server/domain/access";
import { credit } from "@/server/domain/billing";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import {
  createKey,
  createOrganization,
  createProject,
  createUser,
  grantOperator,
  listOrganizations,
  listProjects,
  makePassword,
} from "@/server/domain/organizations";
import { pool, withSystem } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";

const Account = z.object({ email: z.string(), password: z.string() });
type Account = z.output<typeof Account>;

/** What bootstrap.json says. */
const Bootstrap = z.object({
  baseUrl: z.string(),
  organizationId: z.string(),
  projectId: z.string(),
  apiKey: z.string(),
  unboundApiKey: z.string(),
  member: Account,
  operator: Account,
});
type Bootstrap = z.output<typeof Bootstrap>;

async function make(ctx: Ctx, known: Partial<Bootstrap> | null): Promise<Bootstrap> {
  const organizationId = await keepOrganization(ctx, known?.organizationId);
  const projectId = await keepProject(ctx, organizationId, known?.projectId);
  return {
    baseUrl: publicUrl,
    organizationId,
    projectId,
    apiKey: await keepKey(ctx, known?.apiKey, { name: "First key", projectId }),
    unboundApiKey: await keepKey(ctx, known?.unboundApiKey, { name: "First unbound key", organizationId }),
    member: await keepPerson(ctx, organizationId, known?.member, { role: "member", name: "member" }),
    operator: await keepOperator(ctx, organizationId, known?.operator),
  };
}

/** What an earlier run wrote; one that cannot be read is no reason to fail, its parts are made again. */
function readKnown(file: string): Partial<Bootstrap> | null {
  try {
    return Bootstrap.partial().parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null;
  }
}

/** The organization of before, else the oldest, else a new one. */
async function keepOrganization(ctx: Ctx, known: string | undefined): Promise<string> {
  const organizations = await listOrganizations(ctx);
  const kept = organizations.find(({ organizationId }) => organizationId === known) ?? organizations[0];
  if (kept) return kept.organizationId;
  const { organizationId } = await createOrganization(ctx, { name: "Capstan" });
  // So that whoever tries it does not stop at the end of the allowance. Of the sandbox only: nothing of it is real.
  const amountMicros = 1_000_000_000;
  await credit(ctx, { organizationId, amountMicros, isTest: true, reason: "Test money to start with" });
  return organizationId;
}

async function keepProject(ctx: Ctx, organizationId: string, known: string | undefined): Promise<string> {
  const projects = await listProjects(ctx, organizationId);
  const kept = projects.find(({ projectId }) => projectId === known) ?? projects[0];
  return (kept ?? (await createProject(ctx, { organizationId, name: "First project" }))).projectId;
}

async function keepKey(
  ctx: Ctx,
  known: string | undefined,
  key: { name: string; projectId?: string; organizationId?: string },
): Promise<string> {
  const principal = known ? await access.keyPrincipal(known, ctx.now()) : null;
  const isSame =
    principal &&
    principal.projectId === (key.projectId ?? null) &&
    (key.projectId !== undefined || principal.organizationId === key.organizationId);
  if (known && isSame) return known;
  return (await createKey(ctx, { ...key, environment: "development" })).apiKey;
}

/** A person of bootstrap.json: kept with the password they were given, which they may have changed since. */
async function keepPerson(
  ctx: Ctx,
  organizationId: string,
  known: Account | undefined,
  { role, name }: { role: "owner" | "member"; name: string },
): Promise<Account> {
  if (known && (await isTaken(known.email))) return known;
  // Another machine's bootstrap.json may name the plain address: its password is not ours to change.
  const plain = `${name}@capstan.localhost`;
  const email = (await isTaken(plain))
    ? `${name}-${randomBytes(4).toString("hex")}@capstan.localhost`
    : plain;
  const password = makePassword();
  await createUser(ctx, { email, organizationId, role, password });
  return { email, password };
}

async function keepOperator(ctx: Ctx, organizationId: string, known: Account | undefined): Promise<Account> {
  const operator = await keepPerson(ctx, organizationId, known, { role: "owner", name: "operator" });
  const row = await withSystem((tx) => tx.user.findUniqueOrThrow({ where: { email: operator.email } }));
  if (!row.isOperator) await grantOperator(ctx, { email: operator.email });
  return operator;
}

async function isTaken(email: string): Promise<boolean> {
  return (await withSystem((tx) => tx.user.findUnique({ where: { email }, select: { id: true } }))) !== null;
}

/** Whole or not at all, readable by its owner only. */
function write(file: string, bootstrap: Bootstrap): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(bootstrap, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/**
 * Makes what a new installation needs to be used: an organization, a project, two people and two keys, and writes
 * them into the data directory's bootstrap.json. Again it keeps everything that still holds and makes only what is
 * missing. Machines that start at once over one database take turns, so that they share what the first has made.
 */
export async function seed(dataDir: string): Promise<void> {
  const file = join(dataDir, "bootstrap.json");
  const client = await pool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext('capstan seed'))");
    write(file, await make(systemCtx("seed"), readKnown(file)));
  } finally {
    client.release(true); // the lock ends with the connection
  }
}

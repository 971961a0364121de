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
import { pool } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";

const Account = z.object({ email: z.string(), password: z.string() });
type Account = z.output<typeof Account>;

/** The content of bootstrap.json. */
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

/**
 * The file of an earlier run that was killed before it created people; null if it cannot be read, which is not an
 * error.
 */
function readKnown(file: string): Partial<Bootstrap> | null {
  try {
    return Bootstrap.partial().parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null;
  }
}

/** The known organization, or the oldest one, or a new one. */
async function keepOrganization(ctx: Ctx, known: string | undefined): Promise<string> {
  const organizations = await listOrganizations(ctx);
  const kept = organizations.find(({ organizationId }) => organizationId === known) ?? organizations[0];
  if (kept) return kept.organizationId;
  const { organizationId } = await createOrganization(ctx, { name: "Capstan" });
  // Keeps trials from stopping at the end of the allowance. The money is for the sandbox only, where nothing is real.
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

/** Does anyone have an account? The installation belongs to people from then on. */
async function isInUse(): Promise<boolean> {
  return (await pool.query("SELECT FROM user_account LIMIT 1")).rowCount !== 0;
}

const accountOf = (name: string): Account => ({
  email: `${name}@capstan.localhost`,
  password: makePassword(),
});

/** Writes the file atomically, readable by its owner only. */
function write(file: string, bootstrap: Bootstrap): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(bootstrap, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

/**
 * Creates what a new installation needs: an organization, a project, two people and two keys, and writes them to
 * bootstrap.json in the data directory. If anyone has an account, nothing is created or changed, so that a start
 * neither depends on people's settings nor restores what they revoked. Machines that start at the same time over one
 * database take turns.
 */
export async function seed(dataDir: string): Promise<{ isNew: boolean }> {
  const client = await pool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext('capstan seed'))");
    if (await isInUse()) return { isNew: false };
    await make(systemCtx("seed"), join(dataDir, "bootstrap.json"));
    return { isNew: true };
  } finally {
    client.release(true); // the lock ends with the connection
  }
}

async function make(ctx: Ctx, file: string): Promise<void> {
  const known = readKnown(file);
  const organizationId = await keepOrganization(ctx, known?.organizationId);
  const projectId = await keepProject(ctx, organizationId, known?.projectId);
  const bootstrap: Bootstrap = {
    baseUrl: publicUrl,
    organizationId,
    projectId,
    apiKey: await keepKey(ctx, known?.apiKey, { name: "First key", projectId }),
    unboundApiKey: await keepKey(ctx, known?.unboundApiKey, { name: "First unbound key", organizationId }),
    member: known?.member ?? accountOf("member"),
    operator: known?.operator ?? accountOf("operator"),
  };
  write(file, bootstrap); // before the people, whose existence ends the setup
  const { member, operator } = bootstrap;
  await createUser(ctx, { ...operator, organizationId, role: "owner" });
  await grantOperator(ctx, { email: operator.email });
  await createUser(ctx, { ...member, organizationId, role: "member" });
}

import { SCOPES } from "@/server/contract/enums";
import { credit } from "@/server/domain/billing";
import { getCapability } from "@/server/domain/catalog";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as invitations from "@/server/domain/invitations";
import * as organizations from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { call } from "@/testing/api";
import { personOf } from "@/testing/sessions";
import { ctxOf } from "@/testing/tenants";
import { copyJobs } from "./copies";
import { findPlaces } from "./places";
import { runJobToEnd } from "./run";
import {
  adapt,
  budget,
  createComparisons,
  createRequests,
  type DemoProject,
  embed,
  hook,
  pin,
  post,
  uploadPicture,
} from "./things";
import {
  ATTENTION,
  DEMO_KINDS,
  LONG_REQUEST,
  LOST_REQUEST,
  meshOf,
  type Request,
  requestAt,
  WAITING,
} from "./work";

export const DEMO_NAME = "Capstan demo";
const system = systemCtx("demo");

/** The demo as it was made, for people and for `npm run screenshots`. */
export type Demo = {
  organizationId: string;
  projectId: string;
  people: { role: string; email: string; password: string }[];
  /** Ids of things that have a page of their own, by what their pages show. */
  places: Record<string, string>;
};

/** Number of concurrent executions: enough for two cores, and few enough for the sandbox. */
const AT_ONCE = 4;
/** Most real executions; the others are copies of them. */
const MOST_REAL = 320;

/**
 * Makes an organization with `count` jobs of every capability and state, and with everything else that a page can show, all in
 * test money. Throws Refusal in production, and if an organization has the demo's name.
 */
export async function makeDemo(count: number, say: (what: string) => void, name = DEMO_NAME): Promise<Demo> {
  if (env.CAPSTAN_ENV === "production")
    throw new Refusal("The demo is not made in production: CAPSTAN_ENV is production.");
  const known = await organizations.listOrganizations(system);
  if (known.some(({ displayName }) => displayName === name))
    throw new Refusal(`An organization is named “${name}” already. Rename it to make the demo again.`);
  const { organizationId } = await organizations.createOrganization(system, { name });
  await credit(system, {
    organizationId,
    amountMicros: 25_000_000_000,
    isTest: true,
    reason: "Test money for the demo",
  });
  // Copies are charged to the wallet, so the allowance must not pay for a template.
  await pool.query("UPDATE wallet SET allowance_micros = 0 WHERE organization_id = $1 AND is_test", [
    organizationId,
  ]);
  const { projectId } = await organizations.createProject(system, { organizationId, name: "Harbour guide" });
  await organizations.createProject(system, { organizationId, name: "Back office" });
  const { people, owner } = await makePeople(organizationId);
  const keys = await makeKeys(owner, projectId);
  const place: DemoProject = { organizationId, projectId, key: keys[0]?.apiKey ?? "" };
  say("adapters, requests and embeds");
  await adapt(place);
  await createRequests(place);
  await embed(place);
  const real = Math.min(MOST_REAL, Math.max(DEMO_KINDS, Math.ceil(count / 8)));
  say(`${real} real executions`);
  await execute(
    place,
    keys.map(({ apiKey }) => apiKey),
    real,
  );
  say("comparisons and pinned executions");
  await createComparisons(place, count < 1_000 ? 4 : 10);
  await pin(place, count < 1_000 ? 3 : 40);
  const others = [LOST_REQUEST, LOST_REQUEST, ATTENTION, ATTENTION];
  for (const each of others) await runJobToEnd(await submit(place.key, each));
  for (let n = 0; n < 4; n++) await cancelOne(place.key);
  await hook(place, count < 1_000 ? 12 : 90);
  const { rows } = await pool.query<{ made: number }>(
    "SELECT count(*)::int AS made FROM job WHERE project_id = $1",
    [projectId],
  );
  const copies = Math.max(0, count - (rows[0]?.made ?? 0) - WAITING.length - LONGS);
  say(`${copies} copies, spread over four weeks`);
  await copyJobs(projectId, copies, new Date());
  say("budgets, approvals and running jobs");
  await budget(place, keys[1]?.keyId ?? "");
  for (let n = 0; n < LONGS; n++) await submit(keys[n % keys.length]?.apiKey ?? "", LONG_REQUEST);
  await organizations.setApprovalRules(system, projectId, {
    thresholdUsd: 0.02,
    requireDifferentApprover: false,
  });
  for (const each of WAITING) await submit(place.key, each);
  return { organizationId, projectId, people, places: await findPlaces(projectId) };
}

/** Jobs that still run when the demo is finished. */
const LONGS = 2;

async function makePeople(organizationId: string) {
  const people: Demo["people"] = [];
  let owner: Ctx | null = null;
  const named = {
    owner: "Olga Owner",
    admin: "Ali Admin",
    member: "Mia Member",
    viewer: "Viktor Viewer",
  } as const;
  for (const role of ["owner", "admin", "member", "viewer"] as const) {
    const password = organizations.makePassword();
    const email = `${role}@${organizationId.slice(-6)}.demo.localhost`;
    const { userId } = await organizations.createUser(system, {
      email,
      displayName: named[role],
      organizationId,
      role,
      password,
    });
    people.push({ role, email, password });
    if (role === "owner") owner = ctxOf(await personOf(userId));
  }
  if (!owner) throw new Error("the demo has no owner");
  await invitations.invite(owner, { organizationId, email: "new.colleague@example.com", role: "member" });
  return { people, owner };
}

async function makeKeys(owner: Ctx, projectId: string) {
  const make = (name: string, expiresInSeconds?: number) =>
    organizations.createKey(owner, {
      name,
      projectId,
      environment: "development",
      scopes: [...SCOPES],
      expiresInSeconds,
    });
  const keys = [await make("Website"), await make("Nightly agent"), await make("Editor plugin", 7 * 86_400)];
  const { keyId } = await make("Old laptop");
  await organizations.revokeKey(owner, keyId);
  return keys;
}

async function submit(key: string, { capability, input, more }: Request): Promise<string> {
  return (await post(key, `/v1/capabilities/${capability}/jobs`, { input, ...more })).jobId;
}

/** Runs a request synchronously and returns its execution's id, also if it fails. */
async function invoke(key: string, { capability, input, more }: Request): Promise<string> {
  const { json } = await call("POST", `/v1/capabilities/${capability}/invoke`, {
    key,
    body: { input, ...more },
  });
  return json.executionId ?? json.details.executionId;
}

const FAST = "text.general.fast.v1";
const TAGS = ["catalogue", "newsletter", "support", "nightly", "spring-release"];

/** Runs the first `count` requests of the demo, several at once, with all keys. */
async function execute(place: DemoProject, keys: string[], count: number): Promise<void> {
  const { bytes, picture } = await uploadPicture(place);
  const { artifacts } = await runJobToEnd(await submit(place.key, meshOf(picture)));
  const sources = { bytes, picture, mesh: artifacts[0]?.artifactId ?? "" };
  let next = 0;
  const work = async () => {
    for (let n = next++; n < count; n = next++) {
      const asked = requestAt(n, sources);
      const tags = [TAGS[n % TAGS.length] ?? "", ...(n % 3 ? [] : ["review"])];
      const more = { tags, correlationId: `demo-${n}`, metadata: { page: String(n % 40) }, ...asked.more };
      const isDurable = getCapability(asked.capability).modes.includes("job_async");
      const send = isDurable && !(asked.capability === FAST && n % 2) ? submit : invoke;
      const jobId = await send(keys[n % keys.length] ?? place.key, { ...asked, more });
      await runJobToEnd(jobId);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** A job that is canceled while it is queued or running: no worker is quick enough for a call that takes so long. */
async function cancelOne(key: string): Promise<void> {
  const jobId = await submit(key, LONG_REQUEST);
  await post(key, `/v1/jobs/${jobId}/cancel`);
  await runJobToEnd(jobId);
}

import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { closeDatabase, pool } from "@/server/db";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { GITHUB, type Identity, identify, readAccount } from ".";

afterAll(closeDatabase);

const identityOf = (verifiedEmail: string | null, subject: string = randomUUID()): Identity => ({
  issuer: "https://identity.example",
  name: "Example",
  subject,
  verifiedEmail,
});

test("of many sign-ins of one new identity at once each gets the account, and it is linked once", async () => {
  const { organizationId } = await makeTenant();
  const { userId, email } = await makePerson(organizationId, "member");
  const identity = identityOf(email);
  const found = await Promise.all(Array.from({ length: 10 }, () => identify(system, identity)));
  for (const each of found) expect(each).toMatchObject({ userId });
  const { rowCount } = await pool.query("SELECT FROM notification WHERE user_id = $1", [userId]);
  expect(rowCount).toBe(1);
});

test("of many new identities with one e-mail at once, one gets the account", async () => {
  const { organizationId } = await makeTenant();
  const { userId, email } = await makePerson(organizationId, "member");
  const found = await Promise.all(Array.from({ length: 10 }, () => identify(system, identityOf(email))));
  expect(found.filter((each) => "userId" in each)).toEqual([expect.objectContaining({ userId })]);
  expect(found.filter((each) => "refused" in each && each.refused === "IdentityTaken")).toHaveLength(9);
});

test("the same subject of another provider is somebody else", async () => {
  const { organizationId } = await makeTenant();
  const { email } = await makePerson(organizationId, "member");
  const identity = identityOf(email);
  await identify(system, identity);
  const other = { ...identity, issuer: "https://another.example", verifiedEmail: null };
  expect(await identify(system, other)).toEqual({ refused: "EmailNotVerified" });
});

test("a person reads which providers sign them in, by name and since when, and nobody else's", async () => {
  const { organizationId } = await makeTenant();
  const { ctx, email } = await makePerson(organizationId, "member");
  const { ctx: other } = await makePerson(organizationId, "member");
  expect((await readAccount(ctx)).identities).toEqual([]);
  await identify(system, { ...identityOf(email), ...GITHUB });
  await identify(system, identityOf(email));
  const { identities } = await readAccount(ctx);
  expect(identities.map(({ name }) => name).sort()).toEqual(["GitHub", "identity.example"]);
  for (const { since } of identities) expect(new Date(since).getTime()).toBeLessThanOrEqual(Date.now());
  expect((await readAccount(other)).identities).toEqual([]);
});

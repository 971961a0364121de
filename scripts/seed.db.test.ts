import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { seed } from "@/prisma/bootstrap";
import { access } from "@/server/domain/access";
import { verifySignIn } from "@/server/domain/organizations";
import { system } from "@/testing/tenants";
import { admin } from "./admin/admin.fixture";

const directory = mkdtempSync(join(tmpdir(), "capstan-seed-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("the seed", () => {
  const file = join(directory, "bootstrap.json");
  const seeded = async () => {
    await seed(directory);
    return JSON.parse(readFileSync(file, "utf8"));
  };

  test("makes people and keys that work, for their owner's eyes only; again it keeps what still holds", async () => {
    const first = await seeded();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await access.keyPrincipal(first.apiKey, new Date())).toMatchObject({
      projectId: first.projectId,
      organizationId: first.organizationId,
    });
    expect(await access.keyPrincipal(first.unboundApiKey, new Date())).toMatchObject({
      projectId: null,
      organizationId: first.organizationId,
    });
    const signIn = (account: { email: string; password: string }) =>
      verifySignIn(system, { ...account, address: "seed-test" });
    expect(await signIn(first.member)).toMatchObject({ email: first.member.email });
    expect(await signIn(first.operator)).toMatchObject({ email: first.operator.email });

    expect(await seeded()).toEqual(first);

    // A key that was revoked meanwhile is replaced; nothing else changes.
    const principal = await access.keyPrincipal(first.apiKey, new Date());
    await admin("key", "revoke", "--key", principal?.id ?? "");
    const next = await seeded();
    expect(next).toEqual({ ...first, apiKey: next.apiKey });
    expect(await access.keyPrincipal(next.apiKey, new Date())).toMatchObject({ projectId: first.projectId });
  });

  test("another machine over the same database gets people and keys of its own", async () => {
    const first = await seeded();
    rmSync(file);
    const second = await seeded();
    expect(second).toMatchObject({ organizationId: first.organizationId, projectId: first.projectId });
    expect(second.member.email).not.toBe(first.member.email);
    expect(await access.keyPrincipal(first.apiKey, new Date())).not.toBeNull();
    expect(await access.keyPrincipal(second.apiKey, new Date())).not.toBeNull();
  });
});

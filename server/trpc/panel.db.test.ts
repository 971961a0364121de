import { TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { expect, test } from "vitest";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { submit } from "@/server/domain/jobs";
import { createProject } from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { ERRORS, Fault, ValidationFault } from "@/server/platform/errors/errors";
import { servePanel } from "@/server/trpc/serve";
import { finish } from "@/testing/api";
import { personOf } from "@/testing/sessions";
import { ctxOf, makePerson, makeTenant } from "@/testing/tenants";
import { appRouter } from "./index";
import { codeOfStatus, toTrpcError } from "./init";

const anonymous: Ctx = {
  ...systemCtx("test"),
  principal: { kind: "anonymous", id: "anonymous", address: "127.0.0.1" },
};

/** The response to a query as the browser gets it. */
async function ask(ctx: Ctx, path: string, input: unknown) {
  const url = new URL(`http://panel/api/trpc/${path}`);
  url.searchParams.set("input", JSON.stringify(input));
  const answer = await fetchRequestHandler({
    endpoint: "/api/trpc",
    req: new Request(url),
    router: appRouter,
    createContext: () => ctx,
  });
  return { status: answer.status, body: await answer.json() };
}

test("without a session no procedure for signed-in people can be read", async () => {
  const { projectId } = await makeTenant();
  const asked: [string, unknown][] = [
    ["projects.list", undefined],
    ["projects.capabilities", undefined],
    ["jobs.list", { project_id: projectId }],
    ["jobs.get", { job_id: "wfr_1" }],
    ["keys.list", { project_id: projectId }],
    ["budgets.list", { project_id: projectId }],
    ["budgets.holds", { projectId }],
    ["budgets.alerts", { project_id: projectId }],
    ["budgets.guardrails", { project_id: projectId }],
  ];
  for (const [path, input] of asked) expect(await ask(anonymous, path, input)).toMatchObject({ status: 401 });
});

test("values that no database can store are refused before anything reads them, in a query and in a mutation", async () => {
  const serve = (request: Request) => servePanel(request, async () => anonymous);
  const from = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
  const post = (body: string) =>
    serve(
      new Request("http://panel/api/trpc/requests.create?batch=1", { method: "POST", headers: from, body }),
    );
  const get = (input: string) =>
    serve(new Request(`http://panel/api/trpc/requests.get?input=${encodeURIComponent(input)}`));
  for (const [text, loc] of [
    ['{"a":"\\u0000"}', ["body"]],
    ['{"a":"\\ud800"}', ["body"]],
    ['{"__proto__":1}', ["body"]],
    ['{"a":9007199254740992}', ["body", "a"]],
    ["[".repeat(70), ["body"]],
  ] as const)
    for (const send of [post, get]) {
      const refused = await send(text);
      expect(refused.status).toBe(422);
      expect([await refused.json()].flat()).toMatchObject([
        { error: { data: { code: "UNPROCESSABLE_CONTENT", issues: [{ loc }] } } },
      ]);
    }
});

test("the switcher offers only the projects of the person's organizations", async () => {
  const [own, foreign] = await Promise.all([makeTenant(), makeTenant()]);
  const { ctx } = await makePerson(own.organizationId, "viewer");
  const projects = await appRouter.createCaller(ctx).projects.list();
  expect(projects).toEqual([
    expect.objectContaining({ projectId: own.projectId, organizationName: "Test", role: "viewer" }),
  ]);
  expect(JSON.stringify(projects)).not.toContain(foreign.projectId);
  await pool.query("UPDATE project SET status = 'archived' WHERE id = $1", [own.projectId]);
  // The only project of an organization leads to its settings, where it can be restored.
  expect(await appRouter.createCaller(ctx).projects.list()).toEqual([
    expect.objectContaining({ projectId: own.projectId, isArchived: true }),
  ]);
});

test("an operator's switcher and wallets offer only the organizations that they joined", async () => {
  const [own, foreign] = await Promise.all([makeTenant(), makeTenant()]);
  const { userId } = await makePerson(own.organizationId, "member");
  const panel = appRouter.createCaller(ctxOf({ ...(await personOf(userId)), isOperator: true }));
  expect(await panel.projects.list()).toMatchObject([{ projectId: own.projectId, role: "member" }]);
  expect(await panel.billing.accounts()).toEqual([
    { organizationId: own.organizationId, displayName: "Test", role: "member" },
  ]);
  expect((await panel.organizations.get({ organizationId: foreign.organizationId })).role).toBeNull();
});

test("a project's budgets are its own and those of its organization, keys and people", async () => {
  const { organizationId, projectId, keyId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  const other = await createProject(systemCtx("test"), { organizationId, name: "Other" });
  const panel = appRouter.createCaller(ctx);
  const terms = { period: "day", ceilingMicros: 5, enforcement: "warn" } as const;
  for (const owner of [
    { projectId },
    { projectId: other.projectId },
    { organizationId },
    { principalId: keyId },
  ])
    await panel.budgets.set({ owner, ...terms });
  const scopesOf = async (project_id: string) =>
    (await panel.budgets.list({ project_id })).items.map(({ scope }) => scope).sort();
  const shared = [`organization:${organizationId}`, `principal:${keyId}`];
  expect(await scopesOf(projectId)).toEqual([...shared, `project:${projectId}`].sort());
  expect(await scopesOf(other.projectId)).toEqual([...shared, `project:${other.projectId}`].sort());
});

test("another tenant's project and one that does not exist are refused alike", async () => {
  const [own, foreign] = await Promise.all([makeTenant(), makeTenant()]);
  const { ctx } = await makePerson(own.organizationId, "owner");
  for (const path of [
    "jobs.list",
    "keys.list",
    "budgets.list",
    "budgets.holds",
    "budgets.alerts",
    "budgets.guardrails",
  ]) {
    const of = (projectId: string) => ask(ctx, path, { project_id: projectId, projectId });
    const theirs = await of(foreign.projectId);
    const nobodys = await of("cpr_00000000000000000000000000");
    expect([403, 404]).toContain(theirs.status);
    expect(theirs).toEqual(nobodys);
  }
  expect(await ask(ctx, "jobs.get", { job_id: "wfr_00000000000000000000000000" })).toMatchObject({
    status: 404,
    body: { error: { data: { code: "NOT_FOUND", fault: { code: "NotFound" } } } },
  });
});

test("the job of an idempotency key is found only in its own project, environment and operation", async () => {
  const [own, foreign] = await Promise.all([makeTenant(), makeTenant()]);
  const { ctx } = await makePerson(own.organizationId, "member");
  const input = { messages: [{ role: "user", content: "Say hello" }] };
  const key = crypto.randomUUID();
  const { jobId } = await submit(systemCtx("test"), "text.general.fast.v1", {
    input,
    context: { projectId: own.projectId },
    idempotencyKey: key,
  });
  const panel = appRouter.createCaller(ctx);
  const asked = { project_id: own.projectId, operation: "jobs", idempotency_key: key } as const;
  expect(await panel.jobs.ofKey(asked)).toEqual({ jobId });
  const elsewhere = { projectId: own.projectId, environment: "production" };
  const inProduction = { input, context: elsewhere, idempotencyKey: "of production" };
  await submit(systemCtx("test"), "text.general.fast.v1", inProduction);
  expect(await panel.jobs.ofKey({ ...asked, idempotency_key: "of production" })).toEqual({ jobId: null });
  expect(await panel.jobs.ofKey({ ...asked, operation: "invoke" })).toEqual({ jobId: null });
  expect(await panel.jobs.ofKey({ ...asked, idempotency_key: "another" })).toEqual({ jobId: null });
  expect([403, 404]).toContain(
    (await ask(ctx, "jobs.ofKey", { ...asked, project_id: foreign.projectId })).status,
  );
});

test("a person creates, sees and revokes a key of their project, and its text is returned once", async () => {
  const { organizationId, projectId } = await makeTenant();
  const { ctx, userId } = await makePerson(organizationId, "member");
  const panel = appRouter.createCaller(ctx);
  const made = await panel.keys.create({
    name: "Mine",
    projectId,
    scopes: ["jobs:read"],
    expiresInSeconds: 60,
  });
  expect(made).toMatchObject({ createdBy: userId, scopes: ["jobs:read"] });
  const listed = await panel.keys.list({ project_id: projectId });
  expect(listed.find(({ keyId }) => keyId === made.keyId)).toMatchObject({ name: "Mine", revokedAt: null });
  expect(JSON.stringify(listed)).not.toContain(made.apiKey);
  expect(await panel.keys.revoke({ key_id: made.keyId })).toMatchObject({ revokedAt: expect.any(String) });
});

test("keys open to every project of the organization are listed, those of another project are not", async () => {
  const { organizationId, projectId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  const panel = appRouter.createCaller(ctx);
  const open = await panel.keys.create({ name: "Open", organizationId });
  const stranger = await makeTenant();
  const other = await createProject(systemCtx("test"), { organizationId, name: "Other" });
  const elsewhere = await panel.keys.create({ name: "Elsewhere", projectId: other.projectId });
  const shown = (await panel.keys.list({ project_id: projectId })).map(({ keyId }) => keyId);
  expect(shown).toContain(open.keyId);
  expect(shown).not.toContain(stranger.keyId);
  expect(shown).not.toContain(elsewhere.keyId);
});

test("a viewer creates no key, and no one grants a key more than their role has", async () => {
  const { organizationId, projectId } = await makeTenant();
  const viewer = await makePerson(organizationId, "viewer");
  const member = await makePerson(organizationId, "member");
  const asViewer = appRouter.createCaller(viewer.ctx).keys.create({ name: "No", projectId });
  await expect(asViewer).rejects.toMatchObject({ code: "FORBIDDEN" });
  const asMember = appRouter.createCaller(member.ctx).keys;
  const tooMuch = asMember.create({ name: "No", projectId, scopes: ["credentials:write"] });
  await expect(tooMuch).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("an admin sets when jobs wait for approval; others see it, and strangers see no project", async () => {
  const { organizationId, projectId } = await makeTenant();
  const admin = appRouter.createCaller((await makePerson(organizationId, "admin")).ctx).projects;
  const viewer = appRouter.createCaller((await makePerson(organizationId, "viewer")).ctx).projects;
  const stranger = appRouter.createCaller(
    (await makePerson((await makeTenant()).organizationId, "owner")).ctx,
  );
  const rules = { project_id: projectId, thresholdUsd: 0.25, requireDifferentApprover: true };
  expect(await viewer.approvalRules({ project_id: projectId })).toEqual({
    projectId,
    thresholdUsd: null,
    requireDifferentApprover: false,
  });
  await admin.setApprovalRules(rules);
  expect(await viewer.approvalRules({ project_id: projectId })).toEqual({
    projectId,
    thresholdUsd: 0.25,
    requireDifferentApprover: true,
  });
  await expect(viewer.setApprovalRules(rules)).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(stranger.projects.setApprovalRules(rules)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(stranger.projects.approvalRules({ project_id: projectId })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await expect(stranger.attention.list()).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("every error code except those with status 500 has a tRPC code, and a Fault keeps its message and details in the panel", () => {
  for (const [code, row] of Object.entries(ERRORS)) {
    expect(codeOfStatus(row.status) === "INTERNAL_SERVER_ERROR", code).toBe(row.status === 500);
  }
  const fault = new Fault("JobNotCancelable", "It has ended.", { status: "succeeded" });
  const error = toTrpcError(new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: fault }));
  expect(error).toMatchObject({ code: "CONFLICT", message: "It has ended.", cause: fault });
  const invalid = new ValidationFault([{ loc: ["query", "cursor"], msg: "No cursor.", type: "value_error" }]);
  expect(toTrpcError(new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: invalid })).code).toBe(
    "UNPROCESSABLE_CONTENT",
  );
});

test("a wrong input is named, and an unknown failure is not", async () => {
  const { organizationId, projectId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  const wrong = await ask(ctx, "jobs.list", { project_id: projectId, status: "exploded" });
  expect(wrong.status).toBe(400);
  expect(wrong.body.error.message).toContain("status");
  const broken: Ctx = {
    ...ctx,
    get principal(): Ctx["principal"] {
      throw new Error("a secret of the inside");
    },
  };
  const failed = await ask(broken, "jobs.list", { project_id: projectId });
  expect(failed.status).toBe(500);
  expect(JSON.stringify(failed.body)).not.toContain("secret");
  expect(failed.body.error.data.requestId).toBe(ctx.requestId);
});

test("private content leaves the server only when the reader asks for it", async () => {
  const own = await makeTenant();
  const { ctx } = await makePerson(own.organizationId, "owner");
  const of = async (dataClassification: string) => {
    const input = { messages: [{ role: "user", content: "The hero dies." }] };
    const context = { projectId: own.projectId, dataClassification };
    const { jobId } = await submit(systemCtx("test"), "text.general.fast.v1", { input, context });
    const caller = appRouter.createCaller(ctx).jobs;
    const [shown, whole] = [await caller.get({ job_id: jobId }), await caller.content({ job_id: jobId })];
    return [shown, whole].map((job) => JSON.stringify(job).includes("The hero dies."));
  };
  expect(await of("PrivateUserContent")).toEqual([false, true]);
  expect(await of("Manuscript")).toEqual([false, true]);
  expect(await of("Internal")).toEqual([true, true]);
});

test("the result of a person's action on a private job has no content, like a read of the job", {
  tags: "long",
}, async () => {
  const { organizationId, projectId } = await makeTenant();
  const { ctx } = await makePerson(organizationId, "owner");
  const panel = appRouter.createCaller(ctx);
  const words = "The hero dies.";
  const context = { projectId, dataClassification: "Manuscript" };
  const submitted = await panel.catalog.submit({
    capability_key: "image.generate.v1",
    project_id: projectId,
    body: { input: { prompt: words, variantCount: 2 }, context },
  });
  const drawn = { job_id: submitted.jobId };
  const artifactId = (await finish(drawn.job_id)).artifacts?.[0]?.artifactId ?? "";
  const write = async () => {
    const input = { messages: [{ role: "user", content: words }] };
    return (await submit(ctx, "text.general.fast.v1", { input, context })).jobId;
  };
  const setThreshold = (micros: number | null) =>
    pool.query("UPDATE project SET approval_threshold_micros = $2 WHERE id = $1", [projectId, micros]);
  await setThreshold(0);
  const [one, other] = [{ job_id: await write() }, { job_id: await write() }];
  await setThreshold(null);
  const answers = {
    submit: submitted,
    selectVariant: await panel.jobs.selectVariant({ ...drawn, artifactId }),
    approve: await panel.jobs.approve(one),
    reject: await panel.jobs.reject(other),
    cancel: await panel.jobs.cancel(one),
    retry: await panel.jobs.retry(one),
  };
  expect(JSON.stringify(await panel.jobs.content(one))).toContain(words);
  for (const [name, answer] of Object.entries(answers)) {
    expect(answer.dataClassification, name).toBe("Manuscript");
    expect(JSON.stringify(answer), name).not.toContain(words);
  }
});

test("a project's budgets are its own, its organization's and its principals', and not another project's", async () => {
  const { organizationId, projectId, keyId } = await makeTenant();
  const { projectId: other } = await createProject(systemCtx("test"), { organizationId, name: "Other" });
  const { ctx } = await makePerson(organizationId, "admin");
  const panel = appRouter.createCaller(ctx);
  const limits = { period: "day", ceilingMicros: 5, enforcement: "prevent" } as const;
  for (const owner of [
    { projectId },
    { projectId: other },
    { organizationId },
    { organizationId, principalId: keyId },
  ])
    await panel.budgets.set({ owner, ...limits });
  const { items } = await panel.budgets.list({ project_id: projectId });
  expect(items.map(({ scope }) => scope)).toEqual([
    `organization:${organizationId}`,
    `project:${projectId}`,
    `principal:${keyId}`,
  ]);
  const viewer = await makePerson(organizationId, "viewer");
  const reading = appRouter.createCaller(viewer.ctx);
  expect((await reading.budgets.list({ project_id: projectId })).items).toEqual(items);
  await expect(reading.budgets.set({ owner: { projectId }, ...limits })).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
});

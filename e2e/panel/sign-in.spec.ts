import { expect, test } from "@playwright/test";
import { unique, world } from "../world";
import { jobsPath, open, signIn } from "./panel";

test("a signed-out reader signs in, and then sees the requested page", async ({ page }) => {
  await open(page, jobsPath({ status: "failed" }));
  await expect(page).toHaveURL(/\/sign-in\?callbackUrl=/);
  await signIn(page, world.member);
  await expect(page).toHaveURL(new RegExp(`${world.projectId}/jobs\\?status=failed$`));
  await expect(page.getByRole("heading", { level: 1, name: "Jobs" })).toBeVisible();
  const cookie = (await page.context().cookies()).find(({ name }) => name.endsWith("capstan.session"));
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
});

test("a wrong password and an unknown email get the same message", async ({ page }) => {
  await open(page, "/sign-in");
  const alert = page.getByRole("alert").filter({ hasText: "email" });
  await signIn(page, { email: world.member.email, password: "not the password" });
  await expect(alert).toHaveText("Wrong email or password.");
  await open(page, "/sign-in");
  await signIn(page, { email: `${unique("nobody")}@example.com`, password: "not the password" });
  await expect(alert).toHaveText("Wrong email or password.");
  await expect(page).toHaveURL(/\/sign-in$/);
});

test("a link cannot send a reader to another site after signing in", async ({ page }) => {
  await open(page, "/sign-in?callbackUrl=https%3A%2F%2Fevil.example%2F");
  await signIn(page, world.member);
  await expect(page).toHaveURL(new RegExp(`/projects/${world.projectId}/jobs$`));
});

test("signing out ends only this session, and a copy of its cookie no longer works", async ({ browser }) => {
  const [one, other] = await Promise.all([browser.newPage(), browser.newPage()]);
  for (const page of [one, other]) {
    await open(page, `${world.baseUrl}/sign-in`);
    await signIn(page, world.operator);
    await expect(page.getByRole("heading", { level: 1, name: "Jobs" })).toBeVisible();
  }
  const kept = await one.context().cookies();
  await one.getByRole("button", { name: /^Account/ }).click();
  await one.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(one.getByRole("status")).toHaveText("You are signed out.");
  await one.context().addCookies(kept);
  await one.goto(`${world.baseUrl}/`);
  await expect(one).toHaveURL(/\/sign-in/);

  await other.goto(`${world.baseUrl}/`);
  await expect(other.getByRole("heading", { level: 1, name: "Jobs" })).toBeVisible();
  await one.context().close();
  await other.context().close();
});

test("no site can frame the sign-in page", async ({ request }) => {
  const { "content-security-policy": policy, "x-frame-options": frame } = (
    await request.get("/sign-in")
  ).headers();
  expect(policy).toContain("frame-ancestors 'none'");
  expect(frame).toBe("DENY");
});

test("data and artifacts are refused without a session", async ({ request }) => {
  const input = encodeURIComponent(JSON.stringify({ project_id: world.projectId }));
  expect((await request.get(`/api/trpc/keys.list?input=${input}`)).status()).toBe(401);
  expect((await request.get("/artifacts/wfr_1/art_1")).status()).toBe(401);
});

const refusal = { code: "CrossSiteRequest" };
for (const [path, body] of [
  ["/api/auth/signout", { detail: refusal }],
  ["/api/auth/callback/credentials", { detail: refusal }],
  ["/api/auth/callback/code", { detail: refusal }],
  ["/api/trpc/jobs.cancel", { error: { data: { code: "FORBIDDEN", fault: refusal } } }],
] as const) {
  test(`another site cannot post to ${path}`, async ({ request }) => {
    const answer = await request.post(path, {
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      data: {},
    });
    expect(answer.status()).toBe(403);
    expect(await answer.json()).toMatchObject(body);
  });
}

test("a form post is refused, because another site can send a form but no JSON", async ({ request }) => {
  const answer = await request.post("/api/trpc/jobs.cancel", {
    headers: { origin: world.baseUrl },
    form: { job_id: "wfr_1" },
  });
  expect(answer.status()).toBe(415);
});

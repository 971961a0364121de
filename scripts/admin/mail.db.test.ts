import { afterAll, expect, test } from "vitest";
import { startMailServer } from "@/testing/mail-server";
import { setSettings } from "@/testing/settings";
import { runAdmin } from "./command";

afterAll(async () => {
  setSettings({ SMTP_URL: undefined, MAIL_FROM: undefined });
});

const mailTest = (...flags: string[]) => runAdmin(["mail", "test", ...flags, "--json"]);

test("mail test sends an email, or fails with the cause", async () => {
  const server = await startMailServer();
  setSettings({ SMTP_URL: server.url, MAIL_FROM: "Capstan <no-reply@capstan.test>" });
  const { code, out } = await mailTest("--to", "ada@example.com");
  expect({ code, out: JSON.parse(out) }).toEqual({
    code: 0,
    out: { to: "ada@example.com", state: "accepted" },
  });
  expect(server.received.map(({ to }) => to)).toEqual([["ada@example.com"]]);
  setSettings({ SMTP_URL: `smtp://robot:wrong@127.0.0.1:${server.port}` });
  expect(await mailTest("--to", "ada@example.com")).toEqual({
    code: 2,
    out: "",
    error: "The test mail was not sent. The mail server rejected the user and password in SMTP_URL. (535)",
  });
  await server.stop();
});

test("mail test says what is missing: a mail server, or an address", async () => {
  setSettings({ SMTP_URL: undefined });
  expect(await mailTest("--to", "ada@example.com")).toMatchObject({
    code: 2,
    error: "No mail server is set. Set SMTP_URL and MAIL_FROM, then try again.",
  });
  expect(await mailTest()).toMatchObject({ code: 2, error: "--to is required." });
});

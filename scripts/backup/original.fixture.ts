import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credit } from "@/server/domain/billing";
import * as inputs from "@/server/domain/inputs";
import * as jobs from "@/server/domain/jobs";
import { notify } from "@/server/domain/notifications";
import * as payments from "@/server/domain/payments";
import * as requests from "@/server/domain/requests";
import { createEndpoint } from "@/server/domain/webhooks";
import { inTransaction } from "@/server/platform/db";
import { startSandbox } from "@/server/sandbox/server";
import { plain, submitBulk } from "@/testing/bulks";
import { startMailServer } from "@/testing/mail-server";
import { makePayable, soldBy } from "@/testing/payable";
import { startReceiver } from "@/testing/receiver";
import { setSettings } from "@/testing/settings";
import { PROGRAMS } from "@/testing/setup/programs";
import { signed, startStripe } from "@/testing/stripe";
import { makePerson, system } from "@/testing/tenants";
import { inlineStep, makeProject, startJob } from "@/testing/world";

/*
 * An installation with work of every kind. Its database is that of this process; the services outside report what reached them.
 */

const QUESTION = { messages: [{ role: "user", content: "What is a capstan?" }] };
export const ARTIFACT = Buffer.from("bytes that only this test has stored");
export const NOTHING = { submissions: 0, deliveries: 0, mails: 0, refunds: 0 };

export type World = Awaited<ReturnType<typeof openWorld>>;

export async function openWorld() {
  const directory = mkdtempSync(join(tmpdir(), "capstan-backup-"));
  chmodSync(directory, 0o711); // the database server may run as another user
  const at = (name: string) => join(directory, name);
  const [sandbox, receiver, mails, stripe] = await Promise.all([
    // Serves the restored installation: the original uses the sandbox of the whole run.
    startSandbox({ port: 0, dataDir: at("sandbox") }),
    startReceiver(),
    startMailServer(),
    startStripe(),
  ]);
  const settings = {
    SMTP_URL: mails.url,
    MAIL_FROM: "Capstan <no-reply@capstan.test>",
    ...stripe.settings,
  };
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true, ...settings });
  return {
    at,
    original: await makeOriginal(receiver.url, stripe),
    /**
     * Counts what reached the services outside: submissions of a restored installation, and anyone's deliveries, mails and
     * refunds.
     */
    async reached() {
      const answer = await fetch(`${sandbox.url}/submissions`);
      const { total } = (await answer.json()) as { total: number };
      return {
        submissions: total,
        deliveries: receiver.received.length,
        mails: mails.received.length,
        refunds: stripe.refunds.length,
      };
    },
    /** The settings of another installation, in a directory of its own. */
    settingsOf: (name: string, more: Partial<NodeJS.ProcessEnv> = {}): NodeJS.ProcessEnv => ({
      ...process.env,
      DATABASE_URL: undefined,
      CAPSTAN_DATA_DIR: at(name),
      ALLOW_PRIVATE_ADDRESSES: "1",
      SANDBOX_URL: sandbox.url,
      ...settings,
      ...more,
    }),
    async close() {
      await Promise.all([receiver.stop(), mails.stop(), stripe.stop(), sandbox.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Stripe = Awaited<ReturnType<typeof startStripe>>;

/** Work of every kind, finished and in progress. */
async function makeOriginal(receiver: string, stripe: Stripe) {
  const project = await makeProject({ walletMicros: 0 });
  const { ctx, organizationId } = project;
  // Credited through the ledger, which a restore compares with balances.
  await credit(system, { organizationId, amountMicros: 1_000_000, isTest: true, reason: "for a test" });
  const submit = async () => (await jobs.submit(ctx, "text.general.fast.v1", QUESTION)).jobId;
  await createEndpoint(ctx, { url: receiver, secret: randomBytes(24).toString("hex"), enabled: true });
  const finished = await submit();
  await jobs.run(ctx, finished, inlineStep(project.clock));
  await jobs.announce(ctx, project); // its deliveries are due
  const queued = await submit(); // its events are still to be announced
  const claimed = await submit();
  await startJob(ctx, claimed);
  const bulk = await submitBulk(project, plain(5));
  await makePerson(organizationId, "member");
  const news = {
    kind: "commission.quote_ready",
    title: "A quote is ready",
    body: "It can be made.",
  } as const;
  await inTransaction((client) =>
    notify(
      client,
      ctx,
      { organizationId },
      {
        ...news,
        occasion: organizationId,
        href: "/approve/capability-quotes/cq_1",
        letter: { facts: [], action: "Open quote" },
      },
    ),
  );
  const { sha256, artifactId } = await inputs.storeArtifact(
    ctx,
    {
      contentType: "text/plain",
      contentDisposition: undefined,
      contentLength: String(ARTIFACT.length),
      bytes: (async function* () {
        yield ARTIFACT;
      })(),
    },
    {},
  );
  return {
    ...project,
    submit,
    finished,
    queued,
    claimed,
    bulk,
    sha256,
    artifactId,
    ...(await makeRefund(stripe)),
  };
}

/** A commission that was paid and is to be refunded. */
async function makeRefund(stripe: Stripe) {
  const world = await makePayable();
  const { paymentId } = await requests.startCommissionCheckout(world.member, world.quoteId);
  const { say } = soldBy(stripe, paymentId, world.clock.now);
  const { raw, signature } = signed(say.completed());
  await payments.receiveStripeMessage(raw, signature);
  const { refundId } = await requests.refund(world.operator, {
    requestId: world.requestId,
    reason: "It cannot be made.",
  });
  return { refundId };
}

export type Ended = { code: number; out: string; error: string };
/** Runs a command as a shell does. */
export function command(script: string, args: string[], settings: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((ended) =>
    execFile(
      process.execPath,
      [join(PROGRAMS, `${script}.mjs`), ...args],
      { env: settings },
      (error, out, stderr) =>
        ended({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, out, error: stderr }),
    ),
  );
}

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { sourceFiles } from "@/scripts/test/imports";
import { verbsOf } from "@/scripts/test/verbs";

const ROOT = resolve(import.meta.dirname, "../..");

/** Verbs that find something for other verbs, and check rights for them. */
const FINDERS = [
  "adapters.requireEnvironment",
  "catalog.viewerOf",
  "connections.getCredential",
  "organizations.billedOrganization",
];

/** Verbs whose first call is a verb that checks rights. */
const BY_ANOTHER_VERB = [
  "adapters.aliasHistory",
  "adapters.showAlias",
  "adapters.showAliases",
  "jobs.waitFor",
  "onboarding.repair",
  "onboarding.startOnboarding",
  "organizations.listOwnOrganizations",
  "pins.content",
  "provenance.verifyManifest",
  "restores.releaseHeld",
  "vault.dropOldKeys",
  "webhooks.disableEndpoint",
];

/** Verbs that need no check, by their reason. */
const INTERNAL = {
  "the system calls it: a periodic task, a durable function or a payment provider's signed message": [
    "budgets.fanOutAlerts",
    "onboarding.prune",
    "jobs.announce",
    "jobs.prune",
    "jobs.run",
    "jobs.sweep",
    "jobs.writeOff",
    "notifications.attemptMail",
    "notifications.handOnMail",
    "notifications.prune",
    "notifications.sendMail",
    "embeds.prune",
    "payments.applyPaymentMessage",
    "payments.askForRefund",
    "payments.closeDue",
    "payments.receiveStripeMessage",
    "payments.refundPayment",
    "pins.runBulk",
    "pins.sweep",
    "requests.sweep",
    "usage.rollUp",
    "webhooks.adoptLate",
    "webhooks.attempt",
    "webhooks.deliver",
  ],
  "a part of verbs that have asked": [
    "adapters.insertAdapter",
    "audit.auditRow",
    "audit.record",
    "budgets.connectionGuardrails",
    "budgets.openCeiling",
    "budgets.preventingScope",
    "budgets.resolve",
    "budgets.writeConnectionGuardrails",
    "connections.isReachedBy",
    "inputs.uploadExpiry",
    "inputs.keepFor",
    "jobs.submitTogether",
    "notifications.notify",
    "notifications.writeInvitation",
    "organizations.insertKey",
    "organizations.enforceBruteForceLimit",
    "embeds.checkSpendPerJob",
    "embeds.embedInput",
    "embeds.ownKeyOf",
    "payments.handOnRefund",
    "payments.joinPayment",
    "payments.openCheckout",
    "payments.requirePayer",
    "payments.writeRefund",
    "quotes.checkQuote",
  ],
  "it concerns the caller's own account, memberships, session or news only": [
    "budgets.ceilings",
    "notifications.countUnread",
    "notifications.list",
    "notifications.markRead",
    "organizations.listJoinedOrganizations",
    "organizations.listJoinedProjects",
    "organizations.onboard",
    "embeds.bootstrap",
    "sessions.askedBy",
    "sessions.changePassword",
    "sessions.confirmSecondFactor",
    "sessions.decideDevice",
    "sessions.endSession",
    "sessions.linkIdentity",
    "sessions.listSessions",
    "sessions.lookAtDevice",
    "sessions.readAccount",
    "sessions.renewRecoveryCodes",
    "sessions.signOutEverywhere",
    "sessions.startSecondFactor",
    "sessions.turnOffSecondFactor",
    "sessions.unlinkIdentity",
  ],
  "its caller has not signed in yet, or shows a secret instead": [
    "adapters.findWeights",
    "invitations.acceptInvitation",
    "invitations.lookAtInvitation",
    "organizations.verifySignIn",
    "embeds.exchangeLaunchCode",
    "sessions.identify",
    "sessions.redeemDevice",
    "sessions.startDevice",
    "sessions.verifyCode",
  ],
};

test("every verb asks authorize() what its caller may do, or is listed with the reason why not", () => {
  const verbs = verbsOf(ROOT, FINDERS);
  const named = (asks: string) => verbs.filter((verb) => verb.asks === asks).map(({ name }) => name);
  expect(verbs.length).toBeGreaterThan(250);
  expect(named("itself")).toEqual(expect.arrayContaining(["jobs.submit", "jobs.cancel", ...FINDERS]));
  const internal: string[] = Object.values(INTERNAL).flat();
  expect(named("never").filter((name) => !internal.includes(name))).toEqual([]);
  expect(
    named("by another verb")
      .filter((name) => !internal.includes(name))
      .sort(),
  ).toEqual(BY_ANOTHER_VERB);
  expect(named("itself").filter((name) => internal.includes(name))).toEqual([]);
  const all = verbs.map(({ name }) => name);
  expect(internal.filter((name) => !all.includes(name))).toEqual([]);
});

test("a check about a project is awaited, or the verb would go on before it is refused", () => {
  const ABOUT_PROJECT = /access\.authorize\([^;{)]*\{\s*(?:projectId|place|projectInPath)\b/g;
  const texts = sourceFiles(ROOT)
    .filter((file) => file.startsWith("server/") && !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(ROOT, file), "utf8"));
  const calls = texts.flatMap((text) =>
    [...text.matchAll(ABOUT_PROJECT)].map(({ index }) => text.slice(0, index)),
  );
  expect(calls.length).toBeGreaterThan(50);
  expect(
    calls.filter((before) => !/\bawait $|=> $/.test(before)).map((before) => before.slice(-200)),
  ).toEqual([]);
});

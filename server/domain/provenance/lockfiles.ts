import type { JsonObject } from "@/server/contract/common";
import type { PinnedRecord } from "@/server/contract/pinned-records";
import { LOCKFILE_CHECKS, Lockfile, type LockfileVerification } from "@/server/contract/provenance";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { toBodyIssues } from "@/server/domain/envelope";
import * as pins from "@/server/domain/pins";
import { sealDocument, signatureOf } from "@/server/domain/receipts";
import { publicKeys } from "@/server/domain/signing";
import { pinnedExecution } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { ERRORS, Fault, ValidationFault } from "@/server/platform/errors/errors";
import { ulidAt } from "@/server/platform/ids";
import { plainJson } from "@/server/platform/text/json";
import { DAY_MS } from "@/server/platform/time/units";
import { present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import {
  differencesOf,
  formOf,
  isSameDigest,
  lockfileBodyOf,
  shownValue,
  verifyDocument,
} from "@/server/verify";
import { READ_PROVENANCE } from "./manifests";

type Body = { [member: string]: Json };
type Name = (typeof LOCKFILE_CHECKS)[number];

/** A run older than this does not count. */
const CONFORMANCE_MS = 30 * DAY_MS;

/**
 * Returns the lockfile of a pinned record. The same record gives the same lockfile, as long as the signing
 * key is not rotated.
 */
export async function getLockfile(ctx: Ctx, receiptId: string): Promise<Lockfile> {
  if (await isOfJob(ctx, receiptId))
    throw new ValidationFault([
      {
        loc: ["query", "receipt_id"],
        msg: "This is the receipt of a job, whose route can change. A lockfile needs the receipt of a pinned execution.",
        type: "not_pinned",
      },
    ]);
  const record = await pins.get(ctx, receiptId);
  const body = await lockfileBodyOf(plainJson(record) as Body); // a record is an object
  const { hash, ...signed } = await sealDocument(body);
  const integrity = `sha256-${Buffer.from(hash, "hex").toString("base64")}`;
  return Lockfile.parse({ ...body, integrity, signature: signatureOf(signed) });
}

const findReceipt = statement("receipt.find.job", {
  params: { receiptId: text, ...SCOPE },
  sql: `SELECT FROM receipt JOIN job ON job.id = receipt.job_id WHERE receipt.id = $receiptId
       AND ${inScope(SCOPE, "job")}`,
});

async function isOfJob(ctx: Ctx, receiptId: string): Promise<boolean> {
  const scope = access.authorize(ctx, READ_PROVENANCE, "made rows");
  const rows = await readInScope(findReceipt, scope, { receiptId });
  return rows.length > 0;
}

/**
 * Verifies a lockfile, exactly as issued, against its record and against the request that this installation
 * would send today. The answer names each change.
 */
export async function verifyLockfile(ctx: Ctx, raw: JsonObject): Promise<LockfileVerification> {
  access.authorize(ctx, READ_PROVENANCE, "rows");
  const parsed = Lockfile.safeParse(raw, { reportInput: true });
  if (!parsed.success) throw new ValidationFault(toBodyIssues(parsed.error));
  const record = await recordOf(ctx, parsed.data.receiptId);
  const { projectId: id, environment, pin } = record;
  const today = await pins.checkPinStillRuns(pin, { id, environment });
  const answers: Record<Name, pins.PinCheckResult> = {
    pin_resolves: today.resolves,
    native_api_supported: today.isSupported,
    request_semantics_unchanged: await isUnchanged(raw, record),
    credentials_available: today.hasAccount,
    conformance_passed: await lastRun(record, ctx.now()),
  };
  return {
    verified: Object.values(answers).every(({ ok }) => ok),
    checks: LOCKFILE_CHECKS.map((name) => ({ name, ...answers[name] })),
  };
}

/**
 * Reads the record. A missing record, one of another customer and a receipt of another kind are refused
 * alike.
 */
async function recordOf(ctx: Ctx, receiptId: string): Promise<PinnedRecord> {
  try {
    return await pins.get(ctx, receiptId);
  } catch (cause) {
    if (!(cause instanceof Fault) || (cause.code !== "NotFound" && cause.code !== "JobNotFinished"))
      throw cause;
    throw new ValidationFault([
      { loc: ["body", "receiptId"], msg: "There is no such pinned record.", type: "not_found" },
    ]);
  }
}

/**
 * Checks that the lockfile is as signed and matches its record, and that the same request would be sent
 * today.
 */
async function isUnchanged(lockfile: Body, record: PinnedRecord): Promise<pins.PinCheckResult> {
  const sealed = formOf(lockfile)?.sealed(lockfile);
  const said: string[] = [];
  for (const { path, here, there } of differencesOf(sealed, await lockfileBodyOf(plainJson(record) as Body)))
    said.push(`${path} is ${shownValue(here)}, but the record has ${shownValue(there)}`);
  const { checks } = await verifyDocument(lockfile, await publicKeys());
  for (const { name, ok, detail } of checks) if (!ok) said.push(`${name}: ${detail}`);

  const today = await pins.requestToday(record.pinnedId);
  if ("refused" in today) said.push(`it would be rejected today: ${today.refused}`);
  else {
    for (const { path, here, there } of differencesOf(today.settings ?? record.settings, record.settings))
      said.push(`settings.${path} would be ${shownValue(here)} today and was ${shownValue(there)}`);
    if (today.kept && record.sentHash !== null && today.kept.sentHash !== record.sentHash)
      said.push("the bytes sent today would differ from the original bytes");
    if (today.kept && !isSameDigest(today.kept.requestHash, record.requestHash))
      said.push("the stored request does not match the record's requestHash");
    if (said.length === 0)
      return {
        ok: today.settings !== null,
        detail: `the lockfile matches its record${asFarAs(today)}`,
      };
  }
  return { ok: false, detail: said.join("; ") };
}

/** Describes how much of the request could be compared, so the answer claims no more than that. */
function asFarAs({ settings, kept }: pins.RequestToday): string {
  if (kept) return ", and the same bytes would be sent today";
  return settings
    ? ", and the settings would be the same today; the content was removed"
    : "; the content was removed, and without it this interface cannot show what would be sent today";
}

/** A run that failed for lack of funds shows nothing about the pin. */
const UNPAID = Object.entries(ERRORS).flatMap(([code, { status }]) => (status === 402 ? [code] : []));

const readLastRun = statement("pinned_execution.read.last_run", {
  params: {
    projectId: text,
    after: text,
    provider: text,
    model: text,
    api: text,
    since: timestamptz,
    environment: text,
    unpaid: texts,
  },
  row: {
    status: pinnedExecution.status,
    receipt_id: present(pinnedExecution.receipt_id, "an execution that ended in one of these has a receipt"),
    completed_at: present(pinnedExecution.completed_at, "its condition excludes null"),
  },
  sql: `SELECT receipt_id, status, completed_at FROM pinned_execution
     WHERE project_id = $projectId AND id > $after AND provider = $provider AND model = $model AND api = $api
       AND status IN ('succeeded', 'failed', 'ambiguous') AND completed_at > $since
       AND environment = $environment AND coalesce(error->>'code', '') <> ALL($unpaid)
     ORDER BY id DESC LIMIT 1`,
});

/**
 * Returns the result of the newest run of this pin in this environment, except runs that failed for lack of
 * funds.
 */
async function lastRun(
  { projectId, environment, pin }: PinnedRecord,
  now: Date,
): Promise<pins.PinCheckResult> {
  const since = now.getTime() - CONFORMANCE_MS;
  const rows = await readLastRun.all(pool, {
    projectId,
    after: `pin_${ulidAt(since)}`,
    provider: pin.provider,
    model: pin.model,
    api: pin.api,
    since: new Date(since),
    environment,
    unpaid: UNPAID,
  });
  const [last] = rows;
  if (!last) return { ok: false, detail: "no run of this pin in this environment in the last 30 days" };
  return {
    ok: last.status === "succeeded",
    detail: `${last.receipt_id} ${last.status === "ambiguous" ? "is ambiguous" : last.status}, ${last.completed_at.toISOString()}`,
  };
}

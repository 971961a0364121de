import type { Pin } from "@/server/contract/pinned";
import { openContent, type StoredContent } from "@/server/domain/content";
import { pinnedBulk } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { sha256Hex } from "@/server/platform/text/canonical";
import { PinRefusal, pinSettings } from "@/server/providers/pins";
import { json, type Of, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { PinnedContent, PinnedPlan } from "../rows";
import { bytesOf } from "../turn";
import { requestHasher, type SharedRequest, sharedContentOf } from "./request";
import { findTarget, type PinTarget, targetOf } from "./target";

/*
 * Checks how today's version of this service would treat a pin that ran before: if everything is still there,
 * and if the same request would still be sent.
 */

export type PinCheckResult = { ok: boolean; detail: string };
/** The checks of a pin: its model, its interface, and an account of this project that reaches them. */
export type PinCheck = { resolves: PinCheckResult; isSupported: PinCheckResult; hasAccount: PinCheckResult };

export async function checkPinStillRuns(
  pin: Pin,
  place: { id: string; environment: string },
): Promise<PinCheck> {
  const name = `${pin.provider}/${pin.model} at ${pin.api}`;
  const resolves = { ok: true, detail: `${name} is available` };
  const isSupported = { ok: true, detail: `${pin.provider} supports its ${pin.api} interface` };
  try {
    const { credentialId } = await findTarget(pin, place);
    const detail =
      credentialId === null
        ? "the sandbox needs none"
        : "an account of this provider is connected to this project";
    return { resolves, isSupported, hasAccount: { ok: true, detail } };
  } catch (cause) {
    if (cause instanceof Fault && cause.code === "CONNECTION_REQUIRED") {
      const isKnown = targetOf({ pin, model: null }) !== null;
      return {
        resolves: isKnown
          ? resolves
          : { ok: false, detail: "the models are known only for a connected server" },
        isSupported,
        hasAccount: { ok: false, detail: cause.message },
      };
    }
    const [issue] = cause instanceof ValidationFault ? cause.issues : [];
    if (!issue) throw cause;
    const missing = { ok: false, detail: issue.msg };
    return {
      resolves: missing,
      isSupported: issue.loc.at(-1) === "model" ? isSupported : missing,
      hasAccount: { ok: false, detail: "not checked, because the pin is not available" },
    };
  }
}

/** The request that would be sent today for an earlier execution. */
export type RequestToday = {
  /** Null if this interface needs the content to make them and the content was removed. */
  settings: Record<string, Json> | null;
  /** Hashes of the bytes and of the request; null if its content was removed. */
  kept: { sentHash: string; requestHash: string } | null;
};

const storedIn = (
  owner: string,
) => `(SELECT json_build_object('id', id, 'content', content, 'is_sealed', is_sealed)
  FROM payload WHERE ${owner} AND kind = 'request')`;
const PARTS = {
  plan: present(pinnedBulk.plan, "an execution has its own plan or that of its bulk"),
  own: json<StoredContent | null>(),
  shared: json<StoredContent | null>(),
};
const readParts = statement("pinned_execution.read.plan_and_request", {
  params: { pinnedId: text },
  row: PARTS,
  sql: `SELECT coalesce(pinned.plan, bulk.plan) AS plan, ${storedIn("payload.pinned_id = pinned.id")} AS own,
      ${storedIn("payload.bulk_id = bulk.id")} AS shared
     FROM pinned_execution pinned LEFT JOIN pinned_bulk bulk ON bulk.id = pinned.bulk_id WHERE pinned.id = $pinnedId`,
});

/**
 * Makes the body of an execution again, as this version would. Placeholders replace content that was removed,
 * because the settings do not depend on it. Returns a sentence if the body can no longer be made.
 */
export async function requestToday(pinnedId: string): Promise<RequestToday | { refused: string }> {
  const row = await readParts.first(pool, { pinnedId });
  if (!row) throw new Error("a record has no execution");
  const { plan } = row;
  const target = targetOf(plan);
  if (!target) return { refused: "This installation no longer has the pinned provider or model." };
  const kept = contentOf(row);
  if (!kept) return settingsWithoutContent(target, plan);
  try {
    const settings = pinSettings(target.api, target.api.body(kept, target.model, plan.tier));
    const { input, ...shared } = kept;
    const request = { ...shared, pin: plan.pin, isolation: plan.isolation, processing: plan.processing };
    return {
      settings,
      kept: {
        sentHash: sha256Hex(bytesOf(target, kept, plan.tier)),
        requestHash: (await requestHasher(request as SharedRequest))(input), // has all hashed members
      },
    };
  } catch (cause) {
    return refusedOr(cause);
  }
}

const refusedOr = (cause: unknown) => {
  if (cause instanceof PinRefusal) return { refused: `${cause.field}: ${cause.message}` };
  throw cause;
};

/** Fields that hold placeholders; a refusal of one says nothing about the original request. */
const IS_CONTENT = /^(input|instructions|tools\.\d+|toolChoice)\b/;

/** The settings of a body whose content was removed. */
export function settingsWithoutContent(
  target: Pick<PinTarget, "api" | "model">,
  plan: Choices & Pick<PinnedPlan, "tier">,
): RequestToday | { refused: string } {
  try {
    const body = target.api.body(placeholderOf(plan), target.model, plan.tier);
    return { settings: pinSettings(target.api, body), kept: null };
  } catch (cause) {
    if (cause instanceof PinRefusal && IS_CONTENT.test(cause.field)) return { settings: null, kept: null };
    return refusedOr(cause);
  }
}

/**
 * The content of an execution; null if a part of it is not kept. A bulk stores the shared part of its request
 * once; each item stores only its input.
 */
function contentOf({ own, shared }: Pick<Of<typeof PARTS>, "own" | "shared">): PinnedContent | null {
  const content = parsed(own) as PinnedContent | null; // as its admission wrote it
  if (content === null || "sampling" in content) return content;
  const request = parsed(shared) as SharedRequest | null; // as it was parsed when the bulk was accepted
  return request && { ...sharedContentOf(request), input: (content as { input: string }).input };
}

function parsed(stored: StoredContent | null): object | null {
  const content = stored && openContent(stored);
  return content === null ? null : JSON.parse(content);
}

type Choices = Pick<PinnedPlan, "sampling" | "toolChoice" | "instructionsHash" | "toolsHash">;

const placeholderOf = ({ sampling, toolChoice, instructionsHash, toolsHash }: Choices): PinnedContent => ({
  input: "-",
  sampling,
  ...(instructionsHash === null ? {} : { instructions: "-" }),
  ...(toolsHash === null ? {} : { tools: placeholderTools(toolChoice) }),
  ...(toolChoice === undefined ? {} : { toolChoice }),
});

/** Makes a tool for each name in the choice, because an interface may refuse to choose a missing tool. */
function placeholderTools(choice: Json | undefined): Record<string, Json>[] {
  const names = namesIn(choice ?? null);
  return (names.length > 0 ? names : ["placeholder"]).map((name) => ({
    type: "function",
    name,
    parameters: { type: "object" },
  }));
}

/** The functions that a choice names, in any vendor's spelling. */
function namesIn(choice: Json): string[] {
  if (Array.isArray(choice))
    return choice.flatMap((each) => (typeof each === "string" ? [each] : namesIn(each)));
  if (typeof choice !== "object" || choice === null) return [];
  const { name, ...others } = choice;
  return typeof name === "string" ? [name] : Object.values(others).flatMap(namesIn);
}

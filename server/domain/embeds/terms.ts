import { z } from "zod";
import { AdapterChoice } from "@/server/contract/adapters";
import type { JsonObject } from "@/server/contract/common";
import type { EmbedTerms } from "@/server/contract/embeds";
import type { ExecutionConstraints } from "@/server/contract/envelope";
import { nameKey, noSuchAdapter } from "@/server/domain/adapters";
import type { Ctx } from "@/server/domain/ctx";
import type { SentKey } from "@/server/domain/envelope";
import { madeInEmbed, resolveInput } from "@/server/domain/inputs";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault, type ValidationIssue } from "@/server/platform/errors/errors";
import { idSchema } from "@/server/platform/ids";
import { type Micros, microsToUsd } from "@/server/platform/money";
import { canonicalText } from "@/server/platform/text/canonical";
import { checkHosts, type HostsChoice } from "./hosts-choice";
import { USUAL_POLICY } from "./rows";

/** The parts of a request that an embed's terms limit. */
type Asked = HostsChoice & {
  input: JsonObject;
  inputPayloadRef?: string | null | undefined;
  pin?: { target: string } | null | undefined;
  execution: { executionConstraints: ExecutionConstraints };
};

/**
 * The input of a request: its own, or the stored one that it names. A request of an embed session must keep its
 * terms: the capability, locked inputs (filled in if left out), files that it made or was given, adapters that
 * it was given, the outputs and routing that its policy allows, and its host's content rating.
 */
export async function embedInput(
  ctx: Ctx,
  project: { id: string; settings: Record<string, Json> },
  { capabilityKey, asked, isInline }: { capabilityKey: string; asked: Asked; isInline: boolean },
): Promise<JsonObject> {
  const { principal } = ctx;
  if (principal.kind !== "panel_session") return resolveInput(project.id, asked, isInline, ctx.now());
  const { terms } = principal;
  if (terms.capabilityKey !== null && terms.capabilityKey !== capabilityKey)
    fail("AuthorizationFailed", `This embed runs only ${terms.capabilityKey}.`);
  const { input } = asked;
  const issues = [
    ...(asked.inputPayloadRef
      ? [issue(["inputPayloadRef"], "An embed session cannot use stored inputs. Send the input itself.")]
      : []),
    ...lockedFields(terms, input),
    ...outputsAboveMost(terms, input),
    ...adaptersOfOthers(terms, input),
    ...(await filesOfOthers(principal, input)),
  ];
  if (issues.length > 0) throw new ValidationFault(issues);
  checkRouting(terms, asked);
  checkHosts(project.settings, asked);
  return { ...input, ...structuredClone(terms.lockedInputs) };
}

const issue = (loc: (string | number)[], msg: string, type = "value_error"): ValidationIssue => ({
  loc: ["body", ...loc],
  msg,
  type,
});

function lockedFields({ lockedInputs }: EmbedTerms, input: JsonObject): ValidationIssue[] {
  return Object.entries(lockedInputs)
    .filter(
      ([field, value]) => input[field] !== undefined && canonicalText(input[field]) !== canonicalText(value),
    )
    .map(([field]) =>
      issue(["input", field], "This embed sets the value of this field. Leave it out.", "locked"),
    );
}

function outputsAboveMost({ policy, lockedInputs }: EmbedTerms, input: JsonObject): ValidationIssue[] {
  const { maxOutputs } = policy ?? USUAL_POLICY;
  const wanted = lockedInputs.variantCount ?? input.variantCount;
  if (typeof wanted !== "number" || wanted <= maxOutputs) return [];
  return [
    issue(
      ["input", "variantCount"],
      `This embed makes at most ${maxOutputs} outputs at once.`,
      "less_than_equal",
    ),
  ];
}

const ArtifactId = idSchema("artifact");

/** Reports as not found each file that the session neither made nor was given. */
async function filesOfOthers(
  { id, projectId, terms }: { id: string; projectId: string; terms: EmbedTerms },
  input: JsonObject,
): Promise<ValidationIssue[]> {
  const given = new Set(
    [terms.lockedInputs, terms.initialInputs].flatMap((each) => filesIn(each)).map(([, file]) => file),
  );
  const strange = filesIn(input, ["input"]).filter(([, file]) => !given.has(file));
  if (strange.length === 0) return [];
  const own = await madeInEmbed(id, projectId, [...new Set(strange.map(([, file]) => file))]);
  return strange
    .filter(([, file]) => !own.has(file))
    .map(([loc]) => issue(loc, "There is no such artifact in this project.", "not_found"));
}

const Adapters = z.object({ adapters: z.array(AdapterChoice) });

/** The adapters that an input names: by id, or by alias in its normalized form. */
const adaptersIn = (input: JsonObject) =>
  (Adapters.safeParse(input).data?.adapters ?? []).map(({ adapterId, alias }) =>
    alias === undefined
      ? { field: "adapterId", what: "adapter", name: adapterId ?? "" }
      : { field: "alias", what: "alias", name: nameKey(alias) },
  );

/** Reports as not found each adapter that the session was not given. A malformed list is refused later. */
function adaptersOfOthers(terms: EmbedTerms, input: JsonObject): ValidationIssue[] {
  const given = new Set(
    [terms.lockedInputs, terms.initialInputs].flatMap((each) => adaptersIn(each)).map(({ name }) => name),
  );
  return adaptersIn(input).flatMap(({ field, what, name }, position) => {
    if (given.has(name)) return [];
    const { msg, type } = noSuchAdapter(what);
    return [issue(["input", "adapters", position, field], msg, type)];
  });
}

type Place = (string | number)[];

/** Every string in a value that is the id of an artifact, with its place. */
function filesIn(value: unknown, loc: Place = []): [Place, string][] {
  if (typeof value === "string") {
    const id = value.trim();
    return ArtifactId.safeParse(id).success ? [[loc, id]] : [];
  }
  if (Array.isArray(value)) return value.flatMap((each, place) => filesIn(each, [...loc, place]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => filesIn(each, [...loc, name]));
}

/** Routing that leaves the choice to us, which every embed allows. */
const FREE_CHOICE = "automatic";

function checkRouting({ policy, lockedInputs }: EmbedTerms, asked: Asked): void {
  const { defaultRoutingPolicy, allowedRoutingPolicies } = policy ?? USUAL_POLICY;
  const wanted = routingOf(asked, lockedInputs);
  if (wanted === FREE_CHOICE || [defaultRoutingPolicy, ...allowedRoutingPolicies].includes(wanted)) return;
  fail(
    "PolicyRejected",
    `This embed does not allow requests to choose a provider or model (${wanted}). Leave it out.`,
    {
      policy: "panel",
      routingPolicy: wanted,
      allowed: [defaultRoutingPolicy, ...allowedRoutingPolicies],
    },
  );
}

function routingOf({ pin, execution, input }: Asked, locked: JsonObject): string {
  const { preferredModel, providerPin } = execution.executionConstraints;
  if (pin) return "exact_pin";
  const namesInInput = ["model", "modelId"].some(
    (field) => typeof input[field] === "string" && input[field] !== "auto" && locked[field] === undefined,
  );
  if (preferredModel || namesInInput) return "named_model";
  return providerPin ? "named_provider" : FREE_CHOICE;
}

/** Refuses a job that may cost more than the embed allows for one job. */
export function checkSpendPerJob(ctx: Ctx, { maximumMicros }: { maximumMicros: Micros }): void {
  if (ctx.principal.kind !== "panel_session") return;
  const most = ctx.principal.terms.policy?.maxSpendPerJobMicros ?? null;
  if (most === null || maximumMicros <= most) return;
  const [estimatedCost, ceiling] = [microsToUsd(maximumMicros), microsToUsd(most)];
  fail(
    "BudgetExceeded",
    `This may cost ${estimatedCost} USD, and this embed allows at most ${ceiling} USD for one job.`,
    {
      scope: "panel_session",
      field: "maxSpendPerJobMicros",
      enforcement: "prevent",
      estimatedCost,
      available: ceiling,
      ceiling,
    },
  );
}

/**
 * Prefixes the idempotency keys of an embed session with its id, so that they and other callers' keys never
 * match.
 */
export function ownKeyOf({ principal }: Ctx, { key, former }: SentKey): SentKey {
  if (principal.kind !== "panel_session") return former === undefined ? { key } : { key, former };
  const own = (spelling: string) => `${principal.id}/${spelling}`;
  return former === undefined ? { key: own(key) } : { key: own(key), former: own(former) };
}

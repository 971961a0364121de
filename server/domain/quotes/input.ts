import type { Capability, InputConstraint } from "@/server/capabilities/define";
import type { Route } from "@/server/domain/catalog";
import { toBodyIssues } from "@/server/domain/envelope";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { charactersOf } from "@/server/platform/text/characters";
import type { AnyCall, ModelFacts } from "@/server/providers/define";
import { promptTexts, tokensAbove } from "./tokens";

/**
 * Parses an input with its capability's schema. Throws UNKNOWN_INPUT_FIELD with the allowed fields, or a
 * ValidationFault with the error of each field.
 */
export function parseInput(capability: Capability, raw: Record<string, Json>): unknown {
  const parsed = capability.input.safeParse(raw, { reportInput: true });
  if (parsed.success) return parsed.data;
  const unknown = parsed.error.issues.find(
    (issue) => issue.code === "unrecognized_keys" && issue.path.length === 0,
  );
  if (unknown?.code === "unrecognized_keys") {
    const allowed = "shape" in capability.input ? Object.keys(capability.input.shape as object) : [];
    const names = unknown.keys.map((key) => `input.${key}`).join(", ");
    const namesModel = unknown.keys.includes("model") && "port" in capability.execute;
    const instead = namesModel ? " Name a model in execution.executionConstraints.preferredModel." : "";
    fail(
      "UNKNOWN_INPUT_FIELD",
      `${capability.key} does not support ${names}. Its inputs are ${allowed.join(", ")}.${instead}`,
      {
        fields: unknown.keys.map((key) => `input.${key}`),
        allowed,
      },
    );
  }
  throw new ValidationFault(toBodyIssues(parsed.error, ["input"]));
}

/**
 * Fills in the output limit of a synchronous run, which is for short answers; refuses a higher one with
 * USE_JOBS.
 */
export function capSync(capability: Capability, input: unknown): unknown {
  const most = capability.sync?.maxOutputTokens;
  if (most === undefined) return input;
  const asked = (input as { maxOutputTokens?: number }).maxOutputTokens;
  if (asked !== undefined && asked > most) {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    fail(
      "USE_JOBS",
      `A synchronous answer can have at most ${most} output tokens. Use POST ${submit} for more.`,
      {
        submit,
      },
    );
  }
  return { ...(input as object), maxOutputTokens: asked ?? most };
}

/**
 * Finds every string at a dotted path; lists are walked, so `messages` reaches the content of each message
 * and the text of its parts.
 */
function textsAt(value: unknown, path: string): { field: string; text: string }[] {
  let found: { field: string; value: unknown }[] = [{ field: "input", value }];
  for (const part of path.split(".")) {
    found = found.flatMap(({ field, value: inner }) => {
      const next = (inner as Record<string, unknown> | null | undefined)?.[part];
      const at = `${field}.${part}`;
      return Array.isArray(next)
        ? next.map((item, position) => ({ field: `${at}[${position}]`, value: item }))
        : [{ field: at, value: next }];
    });
  }
  return found.flatMap(({ field, value: inner }) => {
    if (typeof inner === "string") return [{ field, text: inner }];
    const content = (inner as { content?: unknown } | null | undefined)?.content;
    if (typeof content === "string") return [{ field: `${field}.content`, text: content }];
    const parts: { text?: unknown }[] = Array.isArray(content) ? content : [];
    return parts.flatMap(({ text }, place) =>
      typeof text === "string" ? [{ field: `${field}.content[${place}].text`, text }] : [],
    );
  });
}

/**
 * Throws PromptTooLong if the input exceeds a limit of the capability or the model. Characters are counted
 * per field; tokens are an upper bound over all text of the messages.
 */
export async function checkConstraints(capability: Capability, input: unknown, route: Route, call: AnyCall) {
  const modelId = (input as { modelId?: string; model?: string }).modelId ?? route.model.id;
  for (const [path, constraint] of Object.entries(capability.inputConstraints)) {
    const listed = leastOf(constraint.byModel?.[modelId]?.max ?? constraint.max, route.model, constraint);
    const base = {
      measurement: constraint.measurement,
      overflow: "reject" as const,
      capabilityKey: capability.key,
      provider: route.provider.name,
      modelId,
      retryable: false as const,
    };
    const texts = textsAt(input, path);
    if (constraint.measurement === "characters") {
      for (const { field, text } of texts) {
        const actualCharacters = charactersOf(text);
        if (listed !== undefined && actualCharacters > listed) {
          fail(
            "PromptTooLong",
            `${field} has ${actualCharacters} characters, and at most ${listed} are allowed. Shorten it: nothing is trimmed automatically.`,
            {
              ...base,
              field,
              actualCharacters,
              maxCharacters: listed,
            },
          );
        }
      }
      continue;
    }
    const maxTokens = Math.min(
      listed ?? Number.POSITIVE_INFINITY,
      route.model.contextWindow ?? Number.POSITIVE_INFINITY,
    );
    if (!("messages" in call) || maxTokens === Number.POSITIVE_INFINITY) continue;
    const actualTokens = await tokensAbove(route.model, promptTexts(call), maxTokens);
    if (actualTokens === null) continue;
    const longest = texts.reduce<{ field: string; text: string } | null>(
      (a, b) => (a && a.text.length >= b.text.length ? a : b),
      null,
    );
    fail(
      "PromptTooLong",
      `The request has up to ${actualTokens} tokens, and ${modelId} accepts at most ${maxTokens}. Shorten it: nothing is trimmed automatically.`,
      { ...base, field: longest?.field ?? `input.${path}`, actualTokens, maxTokens },
    );
  }
}

/** A speech model may accept less than the capability allows. */
const leastOf = (
  listed: number | undefined,
  { maxCharacters }: ModelFacts,
  { measurement }: InputConstraint,
): number | undefined =>
  measurement === "characters" && maxCharacters !== undefined
    ? Math.min(listed ?? maxCharacters, maxCharacters)
    : listed;

import type { z } from "zod";
import { ownKeys } from "@/server/contract/own-keys";
import type { CapabilityRequestBody, RequestRevision } from "@/server/contract/requests";

/** The fields that are typed as JSON. */
export const JSON_FIELDS = [
  "acceptanceCases",
  "constraints",
  "proposedCapability",
  "implementationPreferences",
] as const;
export type JsonField = (typeof JSON_FIELDS)[number];

/** A request's content as the form has it: every field is text. */
export type Draft = { summary: string; need: string } & Record<JsonField | "others", string>;
export type DraftField = keyof Draft;
export type Problems = Partial<Record<DraftField, string>>;

const KNOWN = new Set<string>(["schemaVersion", "projectId", "summary", "need", ...JSON_FIELDS]);

export const EMPTY_DRAFT: Draft = {
  summary: "",
  need: "",
  acceptanceCases: "",
  constraints: "",
  proposedCapability: "",
  implementationPreferences: "",
  others: "",
};

/** A revision as a draft to edit. Custom members are kept, so that a correction loses nothing. */
export function toDraft(content: RequestRevision["content"]): Draft {
  const others = Object.fromEntries(Object.entries(content).filter(([name]) => !KNOWN.has(name)));
  const text = (name: string) => (typeof content[name] === "string" ? content[name] : "");
  const draft = { ...EMPTY_DRAFT, summary: text("summary"), need: text("need") };
  for (const name of JSON_FIELDS) draft[name] = jsonText(content[name]);
  return { ...draft, others: Object.keys(others).length > 0 ? jsonText(others) : "" };
}

const jsonText = (value: unknown) => (value == null ? "" : JSON.stringify(value, null, 2));

type Body = z.input<typeof CapabilityRequestBody>;

const MISSING: Problems = {
  summary: "Enter a one-line summary.",
  need: "Describe what the capability must do.",
};

/**
 * A draft's problems by field, or its request body if there are none. Until the contract's schema is loaded, only what
 * needs no schema is found.
 */
export function readDraft(
  draft: Draft,
  schema: Pick<typeof CapabilityRequestBody, "safeParse"> | null,
): { body: Body | null; problems: Problems } {
  const problems: Problems = {};
  const { value: own, problem } = readOthers(draft.others);
  if (problem) problems.others = problem;
  const body: Body = { ...own, summary: draft.summary, need: draft.need };
  for (const name of JSON_FIELDS) {
    const read = readJson(draft[name]);
    if (read.problem) problems[name] = read.problem;
    else if (read.value !== undefined) Object.assign(body, { [name]: read.value });
  }
  for (const name of ["summary", "need"] as const)
    if (draft[name].trim() === "") Object.assign(problems, { [name]: MISSING[name] });
  const parsed = schema?.safeParse(body);
  if (parsed?.error) Object.assign(problems, problemsOf(parsed.error.issues, problems));
  return { body: Object.keys(problems).length === 0 ? body : null, problems };
}

function readOthers(text: string): { value?: Record<string, unknown>; problem?: string } {
  const { value, problem } = readJson(text);
  if (problem) return { problem };
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problem: "Enter a JSON object: { … }." };
  const taken = Object.keys(value).find((name) => KNOWN.has(name) || name === "idempotencyKey");
  if (taken) return { problem: `“${taken}” has its own field.` };
  return { value: Object.fromEntries(Object.entries(value)) };
}

/** Parses typed JSON; empty text is undefined. */
function readJson(text: string): { value?: unknown; problem?: string } {
  if (text.trim() === "") return {};
  try {
    return { value: JSON.parse(text) };
  } catch (cause) {
    return {
      problem: `This is not valid JSON: ${cause instanceof Error ? cause.message : "it cannot be parsed"}.`,
    };
  }
}

type Issue = { path: PropertyKey[]; message: string };

/** The first problem of each field; problems already shown are kept. */
function problemsOf(issues: readonly Issue[], shown: Problems): Problems {
  const found: Problems = {};
  for (const { path, message } of issues) {
    const field = fieldOf(path[0]);
    if (shown[field] || found[field]) continue;
    const inside = path.slice(1).map(String).join(".");
    found[field] = sentence(inside ? `At ${inside}: ${message}` : message);
  }
  return found;
}

export const DRAFT_FIELDS = ownKeys(EMPTY_DRAFT);
const FIELDS = new Set<string>(DRAFT_FIELDS);
const isField = (name: unknown): name is DraftField => typeof name === "string" && FIELDS.has(name);
const fieldOf = (name: unknown): DraftField => (isField(name) ? name : "others");

const sentence = (text: string) => {
  const words = text.charAt(0).toUpperCase() + text.slice(1);
  return words.endsWith(".") ? words : `${words}.`;
};

/** The server's issues by field. Issues without a field are shown above the form. */
export function refusedAt(issues: readonly { loc: (string | number)[]; msg: string }[]): Problems {
  const found: Problems = {};
  for (const { loc, msg } of issues) {
    const name = loc.find((part) => isField(part));
    if (isField(name)) found[name] ??= sentence(msg);
  }
  return found;
}

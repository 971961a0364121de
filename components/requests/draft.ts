import type { z } from "zod";
import { isJsonObject } from "@/components/blocks/data/unknown";
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
export type RequestDraft = { summary: string; need: string } & Record<JsonField | "others", string>;
export type DraftField = keyof RequestDraft;
export type Problems = Partial<Record<DraftField, string>>;

const KNOWN = new Set<string>(["schemaVersion", "projectId", "summary", "need", ...JSON_FIELDS]);

export const EMPTY_DRAFT: RequestDraft = {
  summary: "",
  need: "",
  acceptanceCases: "",
  constraints: "",
  proposedCapability: "",
  implementationPreferences: "",
  others: "",
};

/** A revision as a draft to edit. Custom members are kept, so that a correction loses nothing. */
export function toDraft(content: RequestRevision["content"]): RequestDraft {
  const others = Object.fromEntries(Object.entries(content).filter(([name]) => !KNOWN.has(name)));
  const text = (name: string) => (typeof content[name] === "string" ? content[name] : "");
  const draft = { ...EMPTY_DRAFT, summary: text("summary"), need: text("need") };
  for (const name of JSON_FIELDS) draft[name] = jsonText(content[name]);
  return { ...draft, others: Object.keys(others).length > 0 ? jsonText(others) : "" };
}

const jsonText = (value: unknown) => (value == null ? "" : JSON.stringify(value, null, 2));

/** The text of a member of a JSON field. Null if the JSON is invalid or not an object, or the member is not a plain value. */
export function memberText(json: string, member: string): string | null {
  const { value = {}, problem } = readJson(json);
  const found = isJsonObject(value) ? (value[member] ?? "") : null;
  return problem || found === null || typeof found === "object" ? null : String(found);
}

/** The JSON of the field with another value of the member, or without the member. */
export function withMember(json: string, member: string, value: string | number): string {
  const { value: before } = readJson(json);
  const { [member]: _, ...others } = isJsonObject(before) ? before : {};
  const members = value === "" ? others : { ...others, [member]: value };
  return Object.keys(members).length > 0 ? jsonText(members) : "";
}

export type Example = { input: string; expected: string };
const isExample = (each: unknown): each is Example =>
  isJsonObject(each) &&
  Object.keys(each).every((name) => name === "input" || name === "expected") &&
  [each.input, each.expected].every((side) => typeof side === "string");

/**
 * Acceptance cases as pairs of texts. Null if the JSON is invalid, or a case has other members, which only the JSON shows.
 */
export function examplesOf(json: string): Example[] | null {
  const { value = [], problem } = readJson(json);
  return !problem && Array.isArray(value) && value.every(isExample) ? value : null;
}

export const fromExamples = (examples: Example[]) => (examples.length > 0 ? jsonText(examples) : "");

export type Body = z.input<typeof CapabilityRequestBody>;

/** The request body of a draft, or the JSON errors by field. The server checks everything else. */
export function readDraft(draft: RequestDraft): { body: Body | null; problems: Problems } {
  const problems: Problems = {};
  const { value: own, problem } = readOthers(draft.others);
  if (problem) problems.others = problem;
  const body: Body = { ...own, summary: draft.summary, need: draft.need };
  for (const name of JSON_FIELDS) {
    const read = readJson(draft[name]);
    if (read.problem) problems[name] = read.problem;
    else if (read.value !== undefined) Object.assign(body, { [name]: read.value });
  }
  return { body: Object.keys(problems).length === 0 ? body : null, problems };
}

function readOthers(text: string): { value?: Record<string, unknown>; problem?: string } {
  const { value, problem } = readJson(text);
  if (problem) return { problem };
  if (value === undefined) return {};
  if (!isJsonObject(value)) return { problem: "Enter a JSON object: { … }." };
  const taken = Object.keys(value).find((name) => KNOWN.has(name) || name === "idempotencyKey");
  if (taken) return { problem: `“${taken}” has its own field.` };
  return { value };
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

export const DRAFT_FIELDS = ownKeys(EMPTY_DRAFT);

import { isObject } from "@/server/platform/text/json";

/** Longest JSON value of a trainer that is parsed, in characters. */
const MOST_PARSED = 1024 * 1024;
const MOST_WORDS = 64;
const MOST_WORD_LENGTH = 255;

type Metadata = ReadonlyMap<string, string>;

const TRIGGER_KEYS = [
  "modelspec.trigger_phrase",
  "trigger_phrase",
  "trigger_words",
  "trigger_word",
  "ss_trigger_words",
];
const WEIGHT_KEYS = [
  "modelspec.recommended_weight",
  "recommended_weight",
  "preferred_weight",
  "ss_recommended_weight",
];

/**
 * Words that trigger the trained subject: those that the maker states; otherwise the captions' tags that are on every picture of
 * a folder, or its one most frequent tag if the number of pictures is unknown.
 */
export function triggerWordsOf(metadata: Metadata): string[] {
  for (const key of TRIGGER_KEYS) {
    const words = toWords(listed(metadata.get(key) ?? ""));
    if (words.length > 0) return words;
  }
  const folders = parsed(metadata.get("ss_dataset_dirs"));
  const words = Object.entries(parsed(metadata.get("ss_tag_frequency"))).flatMap(([folder, tags]) =>
    commonTags(tags, folders[folder]),
  );
  return toWords(words);
}

/** Strength that the maker recommends, from 0 to 2; null if none is stated. */
export function recommendedWeightOf(metadata: Metadata): number | null {
  for (const key of WEIGHT_KEYS) {
    const value = metadata.get(key)?.trim() ?? "";
    if (/^\d(\.\d{1,6})?$/.test(value) && Number(value) <= 2) return Number(value);
  }
  return null;
}

export const weightsTitle = (metadata: Metadata) =>
  line(metadata.get("modelspec.title")) ?? line(metadata.get("ss_output_name"));

export const licenseOf = (metadata: Metadata) =>
  line(metadata.get("modelspec.license")) ?? line(metadata.get("license"));

function commonTags(tags: unknown, folder: unknown): string[] {
  if (!isObject(tags)) return [];
  const counted = Object.entries(tags).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number",
  );
  const pictures = isObject(folder) ? folder["img_count"] : undefined;
  if (typeof pictures === "number" && pictures > 0) {
    return counted.filter(([, count]) => count >= pictures).map(([tag]) => tag);
  }
  const [first, second] = counted.sort(([, a], [, b]) => b - a);
  return first && first[1] > (second?.[1] ?? 0) ? [first[0]] : [];
}

/** Reads a list as trainers write it: JSON, or words with commas between them. */
function listed(value: string): string[] {
  if (value.startsWith("[") && value.length <= MOST_PARSED) {
    try {
      const list: unknown = JSON.parse(value);
      if (Array.isArray(list)) return list.filter((word) => typeof word === "string");
    } catch {
      // The value is a phrase that begins like a list.
    }
  }
  return value.slice(0, MOST_WORDS * MOST_WORD_LENGTH).split(",");
}

function toWords(words: string[]): string[] {
  const clean = words.map((word) => line(word)).filter((word) => word !== null);
  return [...new Set(clean)].slice(0, MOST_WORDS);
}

/** One line of plain text; null if nothing is left. */
function line(value: string | undefined): string | null {
  const text =
    value
      ?.slice(0, 4096)
      .replace(/[\p{Cc}\s]+/gu, " ")
      .trim() ?? "";
  if (text === "" || text === "None") return null;
  return [...text]
    .slice(0, MOST_WORD_LENGTH)
    .join("")
    .replace(/\p{Surrogate}/gu, "");
}

function parsed(value: string | undefined): Record<string, unknown> {
  if (!value || value.length > MOST_PARSED) return {};
  try {
    const object: unknown = JSON.parse(value);
    return isObject(object) ? object : {};
  } catch {
    return {};
  }
}

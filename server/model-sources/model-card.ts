import { parse } from "yaml";
import { z } from "zod";

/*
 * Reads the head of a model card: the YAML between two lines of dashes at the top of README.md. People write it by hand, so
 * values that do not fit are skipped.
 */

const MOST_HEAD_BYTES = 64 * 1024;
const MOST_ALIASES = 16;

export type ModelCard = {
  /** Ids on the Hub of the base models. */
  baseModels: string[];
  instancePrompt: string | null;
  licenseName: string | null;
  /** As written: an address, or a file of the repository. */
  licenseLink: string | null;
  tags: string[];
};

const word = (most: number) =>
  z
    .string()
    .transform((text) => text.trim())
    .refine((text) => text !== "" && text.length <= most)
    .nullish()
    .catch(null);
const words = (most: number) =>
  z
    .union([z.string().transform((one) => [one]), z.array(z.unknown())])
    .nullish()
    .catch(null)
    .transform((all) =>
      (all ?? []).flatMap((each) =>
        typeof each === "string" && each.trim() && each.length <= most ? [each.trim()] : [],
      ),
    );

const Head = z.object({
  base_model: words(200),
  instance_prompt: word(1_000),
  license: words(100),
  license_name: word(255),
  license_link: word(2_048),
  tags: words(200),
});

/** Reads a model card; null if it has no readable head. */
export function readModelCard(readme: string): ModelCard | null {
  const [, head] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(readme) ?? [];
  if (head === undefined || head.length > MOST_HEAD_BYTES) return null;
  let value: unknown;
  try {
    value = parse(head, {
      maxAliasCount: MOST_ALIASES,
      prettyErrors: false,
      logLevel: "silent",
      schema: "core",
    });
  } catch {
    return null; // the parser's errors quote the card
  }
  const read = Head.safeParse(value);
  if (!read.success) return null;
  const { base_model, instance_prompt, license, license_name, license_link, tags } = read.data;
  const [named = null] = license;
  return {
    baseModels: base_model,
    instancePrompt: instance_prompt ?? null,
    licenseName: named === "other" || named === null ? (license_name ?? named) : named,
    licenseLink: license_link ?? null,
    tags,
  };
}

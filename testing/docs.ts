import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/* Reads the documents for tests: pages, headings, links and code blocks. */

export type Page = { path: string; text: string };
export type Block = { language: string; code: string; line: number };

/** The page at this path of the repository. */
export const pageAt = (path: string): Page => ({ path, text: readFileSync(path, "utf8") });

/** Every Markdown page below a folder; empty if there is no such folder. */
export function pagesUnder(folder: string): Page[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  return names.sort().map((name) => pageAt(join(folder, name)));
}

const FENCE =
  /^(?<indent>[ \t]*)(?<fence>`{3,})(?<language>\w*)[^\n]*\n(?<code>.*?)^[ \t]*\k<fence>[ \t]*$/gms;

/** The code blocks of a page, without the indentation of the list they are in. */
export function blocksOf({ text }: Page): Block[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const { indent = "", language = "", code = "" } = match.groups ?? {};
    return {
      language: language.toLowerCase(),
      code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      line: text.slice(0, match.index).split("\n").length,
    };
  });
}

/** The prose of a page, without code blocks. */
export const proseOf = ({ text }: Page): string => text.replaceAll(FENCE, "");

/** The targets of the links and pictures of a page, except in code. */
export function linksOf(page: Page): string[] {
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, "code");
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target ?? "");
}

/** The anchors of a page's headings, as GitHub generates them. */
export function anchorsOf(page: Page): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

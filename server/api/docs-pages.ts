import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { Marked } from "marked";
import MiniSearch from "minisearch";
import { ERRORS } from "@/server/platform/errors/errors";

/* The pages of docs/ and one for each error code: as Markdown, as HTML, and searched. */

const FOLDER = join(process.cwd(), "docs");

let pages: Promise<Map<string, string>> | undefined;

/**
 * The Markdown of each page by its file name below docs/, read once. An installation without docs/ has only an index
 * and the pages of error codes.
 */
export function docsPages(): Promise<Map<string, string>> {
  pages ??= readPages();
  return pages;
}

async function readPages(): Promise<Map<string, string>> {
  const names = await readdir(FOLDER, { recursive: true }).catch(() => []);
  const found = names.filter((name) => name.endsWith(".md")).map((name) => name.replaceAll("\\", "/"));
  const texts = await Promise.all(
    found
      .sort()
      .map(async (name): Promise<[string, string]> => [name, await readFile(join(FOLDER, name), "utf8")]),
  );
  const all = new Map(texts);
  all.set("index.md", indexOf(all));
  for (const code of Object.keys(ERRORS)) all.set(`errors/${code}.md`, errorPage(code, all));
  return all;
}

/** The first main heading of a page, without code marks. */
export const pageTitle = (text: string) => (/^# (.+)$/m.exec(text)?.[1] ?? "Untitled").replaceAll("`", "");

function indexOf(all: Map<string, string>): string {
  const lines = [...all].map(([name, text]) => `- [${pageTitle(text)}](${name})`);
  return `# Documentation\n\n${lines.join("\n")}\n\nEvery error code has a page: \`/docs/errors/{code}.md\`.\n`;
}

const TABLE_OF_ERRORS = "reference/errors.md";
const cellsOf = (row: string) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/**
 * The page of an error code: the introduction of the table that lists the code, and a section for each of the table's
 * other columns.
 */
function errorPage(code: string, all: Map<string, string>): string {
  const lines = (all.get(TABLE_OF_ERRORS) ?? "").split("\n");
  const at = lines.findIndex((line) => line.startsWith(`| \`${code}\` |`));
  const [, ...cells] = cellsOf(lines[at] ?? "");
  const rule = lines.findLastIndex((line, place) => place < at && /^\|[-| ]+\|$/.test(line));
  const [, ...columns] = cellsOf(lines[rule - 1] ?? "");
  const sections = columns.map((column, place) => `## ${column}\n\n${cells[place] ?? ""}`);
  const heading = lines.findLastIndex((line, place) => place < rule && line.startsWith("#"));
  const intro = lines
    .slice(heading + 1, rule - 1)
    .join("\n")
    .trim();
  const text = [
    `# ${code}`,
    ...(intro ? [intro] : []),
    ...sections,
    "How to read errors, and every code: [errors](errors.md).",
  ].join("\n\n");
  return `${text.replaceAll(/\]\((?!https?:|\/|#|\.\.\/)/g, "](../reference/").replaceAll("](../../", "](../")}\n`;
}

/** The address of a page as HTML, such as `/docs/guides/retry-safely`. The README is `/docs/index`. */
export const addressOf = (name: string) =>
  `/docs/${name === "README.md" ? "index" : name.replace(/\.md$/, "")}`;

/** The order in which the parts of the documentation are listed. */
const PARTS = ["start", "guides", "reference", "operate", "architecture"];

/**
 * The pages of each part of the documentation, for the navigation. A page outside the parts, such as the README, is not
 * listed.
 */
export async function contents(): Promise<{ part: string; pages: { address: string; title: string }[] }[]> {
  const all = [...(await docsPages())];
  return PARTS.map((part) => ({
    part,
    pages: all
      .filter(([name]) => name.startsWith(`${part}/`))
      .map(([name, text]) => ({ address: addressOf(name), title: pageTitle(text) })),
  }));
}

/** A page's Markdown by its address below `/docs/`, without an ending; undefined if there is no such page. */
export async function pageAt(address: string): Promise<{ name: string; text: string } | undefined> {
  const name = address === "index" ? "README.md" : `${address}.md`;
  const text = (await docsPages()).get(name);
  return text === undefined ? undefined : { name, text };
}

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");

/**
 * The target of a page's link on this installation: Markdown pages of docs/ lead to their HTML pages. Null for other files of
 * the repository.
 */
function targetOf(name: string, href: string): string | null {
  if (/^(https?:|mailto:|\/|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(name), path);
  if (target.startsWith("..") || !target.endsWith(".md")) return null;
  return anchor ? `${addressOf(target)}#${anchor}` : addressOf(target);
}

/** A page as HTML. The pages are our own, so what they contain is trusted. */
export function htmlOf(name: string, text: string): string {
  const taken = new Map<string, number>();
  return new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth }) {
        const words = this.parser.parseInline(tokens);
        const anchor = anchorOf(words.replaceAll(/<[^>]*>/g, "").replaceAll(/&[a-z0-9#]+;/g, ""));
        const count = taken.get(anchor) ?? 0;
        taken.set(anchor, count + 1);
        return `<h${depth} id="${count ? `${anchor}-${count}` : anchor}">${words}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const target = targetOf(name, href);
        return target === null ? words : `<a href="${encodeURI(target)}">${words}</a>`;
      },
      // Pictures exist only in the repository, so their alternative text is shown.
      image: ({ text: alt }) => alt,
      code: ({ text: code }) => `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`,
      table(token) {
        const cell = ({ text, tokens }: (typeof token.header)[number], tag: string) => {
          const name = text ? tag : "td"; // a header cell without words is a plain cell
          return `<${name}>${this.parser.parseInline(tokens)}</${name}>`;
        };
        const row = (cells: typeof token.header, tag: string) =>
          `<tr>${cells.map((each) => cell(each, tag)).join("")}</tr>`;
        const body = token.rows.map((each) => row(each, "td")).join("");
        return `<div tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  }).parse(text) as string; // a promise only if the parser is async
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

type Hit = { address: string; title: string; excerpt: string };
const MOST_HITS = 20;

let index: Promise<MiniSearch> | undefined;
async function makeIndex(): Promise<MiniSearch> {
  const made = new MiniSearch({
    fields: ["title", "text"],
    storeFields: ["title", "text"],
    searchOptions: { prefix: true, fuzzy: 0.1, boost: { title: 4 }, combineWith: "AND" },
  });
  for (const [name, text] of await docsPages())
    if (name !== "index.md") made.add({ id: name, title: pageTitle(text), text });
  return made;
}

/**
 * At most 20 pages that have all of these words, words that begin with them, or words that are spelled similarly; best
 * first.
 */
export async function searchDocs(q: string): Promise<Hit[]> {
  index ??= makeIndex();
  const found = (await index).search(q.slice(0, 200)).slice(0, MOST_HITS);
  return found.map(({ id, title, text, terms }) => ({
    address: addressOf(id),
    title,
    excerpt: excerptOf(text, terms),
  }));
}

/** The first text line that has one of the words, or else the first text line; at most 200 characters. */
function excerptOf(text: string, terms: string[]): string {
  const lines = text.split("\n").filter((line) => /^[\p{L}\d`*[-]/u.test(line));
  const found =
    lines.find((line) => terms.some((term) => line.toLowerCase().includes(term))) ?? lines[0] ?? "";
  return found
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .slice(0, 200);
}

import type { SourceRef } from "./define";

/* Texts that name a repository of the Hugging Face Hub: its name, its address, or the address of a file in it. */

const OWNER = /^[A-Za-z0-9](?:[\w-]{0,94}[A-Za-z0-9])?$/;
const NAME = /^[A-Za-z0-9_][\w.-]{0,95}$/;
/** First segments of the Hub's paths that are not owners. */
const NO_OWNERS = new Set([
  ...["api", "blog", "chat", "collections", "datasets", "docs", "enterprise", "join", "learn", "login"],
  ...[
    "models",
    "new",
    "organizations",
    "papers",
    "posts",
    "pricing",
    "search",
    "settings",
    "spaces",
    "tasks",
  ],
]);
/** The segment before the revision in the address of a file or folder. */
const VIEWS = new Set(["tree", "blob", "resolve", "raw", "blame", "commit", "commits"]);

/** Returns `owner/name` of the Hub; null if the names are not valid. */
export function repoOf(owner = "", name = ""): string | null {
  const isName = NAME.test(name) && !/--|\.\.|\.git$|[.-]$/.test(name);
  return OWNER.test(owner) && !NO_OWNERS.has(owner.toLowerCase()) && isName ? `${owner}/${name}` : null;
}

/** Returns a path inside a repository unchanged; null if it is not valid. */
function pathOf(path: string): string | null {
  const parts = path.split("/");
  const isPlain = parts.every(
    (part) => part !== "" && part !== "." && part !== ".." && !/[\p{Cc}\\]/u.test(part),
  );
  return isPlain && path.length <= 1_024 ? path : null;
}

/** Returns a branch, tag or commit unchanged; null if Git does not allow the name or it has unusual characters. */
export function revisionOf(revision: string): string | null {
  const isName = /^[\w][\w./+-]{0,254}$/.test(revision) && !/\.\.|\/\/|\.lock$|[./]$/.test(revision);
  return isName ? revision : null;
}

export const isCommit = (revision: string) => /^[0-9a-f]{40}$/.test(revision);

/** Reads `owner/name`, `hf:owner/name@revision/path` and addresses of the Hub; null for any other text. */
export function readHubQuery(query: string, hubBaseUrl: string): SourceRef | null {
  const text = query.trim();
  if (/^https?:\/\//i.test(text)) return readAddress(text, hubBaseUrl);
  const [, short] = /^(?:hf|huggingface):(?:\/\/)?(?:models\/)?(.+)$/i.exec(text) ?? [];
  if (short === undefined) {
    const [owner, name, ...rest] = text.split("/");
    return rest.length === 0 ? toRef(repoOf(owner, name)) : null;
  }
  const [, owner, name, revision, path] = /^([^/@]+)\/([^/@]+)(?:@([^/]+))?(?:\/(.+))?$/.exec(short) ?? [];
  return toRef(repoOf(owner, name), revision && decode(revision), path && decode(path));
}

function readAddress(text: string, hubBaseUrl: string): SourceRef | null {
  // `URL` would resolve `..` in the path.
  if (!URL.canParse(text) || /\/(\.|%2e){1,2}(?:[/?#]|$)/i.test(text)) return null;
  const url = new URL(text);
  const hub = new URL(hubBaseUrl);
  const isHub = url.host === hub.host || ["huggingface.co", "www.huggingface.co", "hf.co"].includes(url.host);
  if (!isHub || url.username || url.password) return null;
  const prefix = url.host === hub.host ? hub.pathname.replace(/\/+$/, "") : "";
  if (!url.pathname.startsWith(`${prefix}/`)) return null;
  const parts = url.pathname
    .slice(prefix.length)
    .replaceAll(/^\/+|\/+$/g, "")
    .split("/")
    .map(decode);
  const [owner, name, view, revision, ...path] = parts;
  if (parts.some((part) => part === null)) return null;
  const repo = repoOf(owner ?? "", name ?? "");
  if (!view) return toRef(repo);
  if (!VIEWS.has(view) || !revision) return null;
  const isFile = view === "blob" || view === "resolve" || view === "raw" || view === "blame";
  return toRef(repo, revision, isFile && path.length > 0 ? path.join("/") : undefined);
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function toRef(repo: string | null, revision?: string | null, path?: string | null): SourceRef | null {
  const known = {
    revision: revision === undefined || revision === "" ? null : revisionOf(revision ?? ""),
    filePath: path === undefined || path === "" ? null : pathOf(path ?? ""),
  };
  const isWhole = (!revision || known.revision !== null) && (!path || known.filePath !== null);
  if (!repo || !isWhole || revision === null || path === null) return null;
  return { kind: "huggingface", ref: repo, ...known, provider: null };
}

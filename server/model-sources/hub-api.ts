import { z } from "zod";
import { type Fetched, FetchFault } from "@/server/platform/http";
import { type BudgetedFetch, budgeted } from "./budget";
import { SourceFault, type SourceIo, type WeightsFile } from "./define";

/* Requests to the Hugging Face Hub: facts of a revision, lists of files, and files. */

const MOST_FACTS_BYTES = 100_000;
const MOST_LIST_BYTES = 400_000;

const Facts = z.object({
  /** The repository's current name, which differs from the requested one after a rename. */
  id: z.string().nullish(),
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  private: z.boolean().nullish(),
  disabled: z.boolean().nullish(),
  gated: z.union([z.boolean(), z.string()]).nullish(),
});
const Entry = z.object({
  type: z.string(),
  path: z.string(),
  size: z.number().nullish(),
  lfs: z.object({ oid: z.string(), size: z.number() }).nullish(),
});

export type HubFacts = { repo: string; commit: string; isOpen: boolean };
export type HubFile = WeightsFile & { isFile: boolean };

export type HubClient = ReturnType<typeof openHub>;

/** A client of the Hub whose requests share one budget of bytes. */
export function openHub(io: SourceIo) {
  const { baseUrl, token } = io.hub;
  const base = baseUrl.replace(/\/+$/, "");
  const ask = budgeted(io);
  const credential = token ? { origin: new URL(base).origin, authorization: `Bearer ${token}` } : undefined;

  return {
    /** Resolves a branch, tag or commit to its commit, and reports whether everyone may read the repository. */
    async facts(repo: string, revision: string): Promise<HubFacts> {
      const query = ["sha", "private", "disabled", "gated"].map((name) => `expand[]=${name}`).join("&");
      const url = `${base}/api/models/${repo}/revision/${encodeURIComponent(revision)}?${query}`;
      const reply = await get(ask, {
        url,
        maxBytes: MOST_FACTS_BYTES,
        accept: "application/json",
        credential,
      });
      const facts = read(Facts, reply);
      return {
        repo: facts.id && /^[\w-]+\/[\w.-]+$/.test(facts.id) ? facts.id : repo,
        commit: facts.sha,
        isOpen: !facts.private && !facts.disabled && !facts.gated,
      };
    },

    /**
     * Lists the entries of a commit, or of one of its folders. `isWhole` is false if the Hub has more than is returned; a list
     * that is too large is returned empty.
     */
    async files(
      repo: string,
      commit: string,
      folder?: string,
    ): Promise<{ files: HubFile[]; isWhole: boolean }> {
      const place = folder === undefined ? "" : `/${encodePath(folder)}`;
      const recursive = folder === undefined || folder === "";
      const url = `${base}/api/models/${repo}/tree/${commit}${place}?recursive=${recursive}&expand=false`;
      const request = { url, maxBytes: MOST_LIST_BYTES, accept: "application/json", credential };
      const reply = await get(ask, request).catch(nullIfTooLarge);
      if (!reply) return { files: [], isWhole: false };
      const entries = read(z.array(Entry), reply);
      return {
        files: entries.map(({ type, path, size, lfs }) => ({
          path,
          byteLength: lfs?.size ?? size ?? null,
          sha256: lfs && /^[0-9a-f]{64}$/.test(lfs.oid) ? lfs.oid : null,
          isFile: type === "file",
        })),
        isWhole: !/rel="?next"?/.test(reply.header("link") ?? ""),
      };
    },

    /** Reads a small text file; null if it does not exist or is too large. */
    async text(repo: string, commit: string, path: string, maxBytes: number): Promise<string | null> {
      try {
        const url = fileUrl(base, repo, commit, path);
        const { bytes } = await get(ask, { url, maxBytes, credential });
        return new TextDecoder().decode(bytes);
      } catch (cause) {
        const isNone = cause instanceof SourceFault && cause.reason === "not_found";
        if (isNone || cause instanceof FetchFault) return null;
        throw cause;
      }
    },

    /** Reads some bytes of a file; `isAnonymous` leaves out our token. */
    part(
      repo: string,
      commit: string,
      path: string,
      {
        first,
        last,
        isAnonymous = false,
      }: { first: number; last: number; isAnonymous?: boolean | undefined },
    ) {
      return get(ask, {
        url: fileUrl(base, repo, commit, path),
        range: { first, last },
        ...(isAnonymous ? {} : { credential }),
      });
    },

    urlOf: (repo: string, commit: string, path: string) => fileUrl(base, repo, commit, path),
  };
}

function nullIfTooLarge(cause: unknown): null {
  if (cause instanceof FetchFault && cause.reason === "too_large") return null;
  throw cause;
}

const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/");
export const fileUrl = (base: string, repo: string, commit: string, path: string) =>
  `${base}/${repo}/resolve/${commit}/${encodePath(path)}`;

async function get(ask: BudgetedFetch, request: Parameters<BudgetedFetch>[0]): Promise<Fetched> {
  const reply = await ask(request);
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw faultOf(reply);
}

/**
 * Translates the Hub's status. The Hub answers 401 for private and for missing repositories alike, so both get one reason;
 * `x-error-code` has the Hub's own.
 */
function faultOf({ status, header }: Fetched): SourceFault {
  const code = header("x-error-code");
  if (code === "GatedRepo")
    return new SourceFault("no_access", "The repository is gated: its owner grants access individually.");
  if (code === "RevisionNotFound")
    return new SourceFault("not_found", "The repository has no such branch, tag or commit.");
  if (code === "EntryNotFound") return new SourceFault("not_found", "The repository has no such file.");
  if (code === "RepoNotFound" || status === 401)
    return new SourceFault("not_found", "There is no such public repository. It may be private.");
  if (code === "DisabledRepo" || status === 403)
    return new SourceFault("no_access", "The Hugging Face Hub denied access to the repository.");
  if (status === 404 || status === 400 || status === 410)
    return new SourceFault("not_found", "The Hugging Face Hub has nothing with that name.");
  const isBusy = status === 429;
  return new SourceFault(
    "unavailable",
    isBusy
      ? "The Hugging Face Hub's rate limit is reached. Try again later."
      : "The Hugging Face Hub did not answer. Try again later.",
  );
}

function read<T>(schema: z.ZodType<T>, { bytes }: Fetched): T {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch {
    throw new SourceFault(
      "unavailable",
      "The Hugging Face Hub's answer does not match its documented format.",
    );
  }
}

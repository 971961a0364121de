import { FetchFault, isListedHost } from "@/server/platform/http";
import { budgeted } from "./budget";
import { type ModelSource, SourceFault, type SourceIo } from "./define";
import { sourceHealth } from "./health-of";
import { readWeightsHeader } from "./weights-header";

/** A direct link to a file on a listed host. Its owner may replace the file at any time, so the link is never frozen. */
export const httpsLink: ModelSource = {
  kind: "provider_ref",

  read(query, { rules }) {
    const text = query.trim();
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
    const url = new URL(text);
    const isFile = /\.safetensors$/i.test(url.pathname);
    const isPlain = !/%(?![0-9a-f]{2})|%[89a-f]/i.test(url.pathname); // decoding the name could fail
    if (!isFile || !isPlain || !isListedHost(url.hostname, rules.hosts)) return null;
    url.hash = "";
    return { kind: "provider_ref", ref: url.href, revision: null, filePath: null, provider: null };
  },

  async preview(source, io) {
    const { byteLength, facts } = await look(source.ref, io);
    const path = nameOf(source.ref);
    return {
      source,
      revision: null,
      files: [{ path, byteLength, sha256: null }],
      selectedFile: path,
      baseModelFamily: facts?.baseModelFamily ?? null,
      displayName: facts?.title ?? path.replace(/\.safetensors$/i, ""),
      recommendedWeight: facts?.recommendedWeight ?? null,
      triggerWords: facts?.triggerWords ?? [],
      licenseName: facts?.licenseName ?? null,
      licenseUrl: null,
      warnings: [
        "A link does not pin its file: the content behind it can change.",
        ...(facts ? [] : ["The file's header is too long to be checked remotely."]),
      ],
    };
  },

  async freeze(source, io) {
    const { byteLength } = await look(source.ref, io);
    return { source, isFrozen: false, sha256: null, byteLength, url: source.ref };
  },

  async health({ source, byteLength }, io) {
    try {
      const found = await look(source.ref, io);
      const isSame = byteLength === null || byteLength === found.byteLength;
      return isSame
        ? { status: "healthy", detail: null }
        : { status: "degraded", detail: "The file's size has changed." };
    } catch (cause) {
      return sourceHealth(cause);
    }
  },
};

const nameOf = (link: string): string => decodeURIComponent(new URL(link).pathname.split("/").at(-1) ?? "");

/** Reads the header without any credential, because the link is not the Hub's. */
function look(url: string, io: SourceIo) {
  const ask = budgeted(io);
  return readWeightsHeader(async (first, last) => {
    const reply = await ask({ url, range: { first, last } }).catch((cause) => {
      if (cause instanceof FetchFault && cause.reason === "range")
        throw new SourceFault(
          "unusable",
          "The server does not support range requests, so the file was not read.",
        );
      throw cause;
    });
    const { status } = reply;
    if (status >= 200 && status < 300) return reply;
    if (status === 401 || status === 403)
      throw new SourceFault("no_access", "The server denied access to the file.");
    if (status === 404 || status === 410)
      throw new SourceFault("not_found", "There is no file at this link. Check the address.");
    throw new SourceFault("unavailable", "The server did not answer.");
  }, null);
}

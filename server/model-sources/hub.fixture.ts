import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "@/testing/listener";

/*
 * A server that speaks the Hugging Face Hub's API, with its CDN: the shapes of huggingface_hub and huggingface.js
 * (api/models/…/revision, …/tree, …/resolve, x-error-code, Link). Large files are redirected to a signed address.
 */

export type Repo = {
  /** Commits of branches and tags. */
  refs: Record<string, string>;
  commits: Record<string, Record<string, Buffer>>;
  gated?: "auto" | "manual";
  private?: boolean;
  renamedTo?: string;
};
export type Asked = {
  at: "hub" | "cdn";
  path: string;
  range: string | undefined;
  authorization: string | undefined;
  /** Size of the body that was sent. */
  bytes: number;
};
export type Answer = { status?: number; headers?: Record<string, string>; body?: Buffer | string };
/** Replaces an answer of the Hub or its CDN; undefined keeps it, and "silent" sends none. */
export type Twist = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Answer | "silent" | undefined;

export const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
export const commitOf = (word: string) => createHash("sha1").update(word).digest("hex");

/** Starts the Hub on this port, or on any free one, with its CDN. */
export async function startHub(token: string, port = 0) {
  const repos: Record<string, Repo> = {};
  const asked: Asked[] = [];
  let twist: Twist = () => undefined;
  let pageSize = 1_000;

  const reply = (at: Asked["at"], request: IncomingMessage, response: ServerResponse, answer: Answer) => {
    const body = Buffer.from(answer.body ?? "");
    const { range, authorization } = request.headers;
    asked.push({ at, path: request.url ?? "", range, authorization, bytes: body.byteLength });
    response.writeHead(answer.status ?? 200, { "content-length": `${body.byteLength}`, ...answer.headers });
    response.end(body);
  };
  const failed = (status: number, code: string): Answer => ({
    status,
    headers: { "x-error-code": code, "x-error-message": "words of the Hub" },
    body: JSON.stringify({ error: "words of the Hub" }),
  });

  const partOf = (file: Buffer, range: string | undefined): Answer => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    if (first === undefined || last === undefined) return { body: file };
    const end = Math.min(Number(last), file.length - 1);
    return {
      status: 206,
      headers: { "content-range": `bytes ${first}-${end}/${file.length}`, "accept-ranges": "bytes" },
      body: file.subarray(Number(first), end + 1),
    };
  };

  const cdn = await listen((request, _body, response) => {
    const path = request.url ?? "";
    const twisted = twist(path, request, response);
    if (twisted === "silent") return;
    const [, name = ""] = /^\/blobs\/(\w+)\?Signature=/.exec(path) ?? [];
    const file = Object.values(repos)
      .flatMap(({ commits }) => Object.values(commits).flatMap((files) => Object.values(files)))
      .find((each) => sha256(each) === name);
    reply(
      "cdn",
      request,
      response,
      twisted ?? (file ? partOf(file, request.headers.range) : { status: 403 }),
    );
  });

  const hub = await listen((request, _body, response) => {
    const path = decodeURI(request.url ?? "");
    const twisted = twist(path, request, response);
    if (twisted === "silent") return;
    reply("hub", request, response, twisted ?? answer(request.url ?? "", request));
  }, port);

  function answer(url: string, request: IncomingMessage): Answer {
    const { pathname, searchParams } = new URL(url, "http://hub");
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/([^/]+)(?:\/(.*))?$/.exec(pathname);
    const file = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname);
    const name = api?.[1] ?? file?.[1] ?? "";
    const repo = repos[name];
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    if (!repo || (repo.private && !isKnown)) return failed(401, "RepoNotFound");
    if (repo.renamedTo)
      return {
        status: 307,
        headers: { location: url.replace(name, repo.renamedTo) },
        body: "Temporary Redirect",
      };
    const revision = decodeURIComponent(api?.[3] ?? file?.[2] ?? "");
    const commit = repo.refs[revision] ?? (repo.commits[revision] ? revision : "");
    const files = repo.commits[commit];
    if (!files) return failed(404, "RevisionNotFound");
    if (api?.[2] === "revision") {
      const facts = {
        _id: "6",
        id: name,
        sha: commit,
        private: repo.private ?? false,
        gated: repo.gated ?? false,
      };
      return { body: JSON.stringify({ ...facts, disabled: false }) };
    }
    if (api) return listing(files, api[4] ?? "", searchParams.get("recursive") === "true", url);
    if (repo.gated) return failed(isKnown ? 403 : 401, "GatedRepo");
    const bytes = files[decodeURIComponent(file?.[3] ?? "")];
    if (!bytes) return failed(404, "EntryNotFound");
    if (!pathname.endsWith(".safetensors")) return { body: bytes };
    const location = `http://127.0.0.1:${cdn.port}/blobs/${sha256(bytes)}?Signature=s&Expires=1`;
    return { status: 302, headers: { location, "x-linked-size": `${bytes.length}` }, body: "Found" };
  }

  function listing(files: Record<string, Buffer>, folder: string, isRecursive: boolean, url: string): Answer {
    const place = folder === "" ? "" : `${decodeURIComponent(folder)}/`;
    const inside = Object.entries(files).filter(
      ([path]) => path.startsWith(place) && (isRecursive || !path.slice(place.length).includes("/")),
    );
    if (folder !== "" && inside.length === 0) return failed(404, "EntryNotFound");
    const entries = inside.map(([path, bytes]) => ({
      type: "file",
      oid: commitOf(path),
      size: bytes.length,
      path,
      ...(path.endsWith(".safetensors")
        ? { lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 134 }, xetHash: sha256(bytes) }
        : {}),
    }));
    const more = entries.length > pageSize;
    return {
      headers: more ? { link: `<http://127.0.0.1:${hub.port}${url}&cursor=x>; rel="next"` } : {},
      body: JSON.stringify(entries.slice(0, pageSize)),
    };
  }

  return {
    url: `http://127.0.0.1:${hub.port}`,
    cdnUrl: `http://127.0.0.1:${cdn.port}`,
    repos,
    asked,
    /** Forgets the requests, the repositories and the replaced answers. */
    reset() {
      asked.length = 0;
      twist = () => undefined;
      pageSize = 1_000;
      for (const name of Object.keys(repos)) delete repos[name];
    },
    answerOtherwise(next: Twist) {
      twist = next;
    },
    listAtMost(size: number) {
      pageSize = size;
    },
    async stop() {
      await hub.stop();
      await cdn.stop();
    },
  };
}

const BYTES = { BF16: 2, F32: 4 } as const;

/** A LoRA in safetensors with this module, whose tensors no one should ever read. */
export function weights({
  metadata = {},
  module = "lora_unet_double_blocks_0_img_attn_qkv",
  rank = 16,
  padding = 0,
}: {
  metadata?: Record<string, string>;
  module?: string;
  rank?: number;
  padding?: number;
} = {}): Buffer {
  const tensors: [string, keyof typeof BYTES, number[]][] = [
    [`${module}.alpha`, "BF16", []],
    [`${module}.lora_down.weight`, "BF16", [rank, 3_072]],
    [`${module}.lora_up.weight`, "BF16", [9_216, rank]],
  ];
  let at = 0;
  const entries = tensors.map(([name, dtype, shape]) => {
    const begin = at;
    at += shape.reduce((product, size) => product * size, 1) * BYTES[dtype];
    return [name, { dtype, shape, data_offsets: [begin, at] }] as const;
  });
  const text = JSON.stringify({
    __metadata__: { format: "pt", ss_base_model_version: "flux1", ...metadata },
    ...Object.fromEntries(entries),
  });
  const header = Buffer.from(text + " ".repeat(padding));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([prefix, header, Buffer.alloc(at, 0xaa)]);
}

/** Bytes of a file before its tensors. */
export const headBytes = (file: Buffer) => 8 + Number(file.readBigUInt64LE(0));

import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { headerOf } from "@/testing/corpora/safetensors/parts";
import { openInstallation } from "./installation";

/*
 * `npm run prove:upload [-- --gib 2]` uploads a LoRA of that size over HTTP to an installation while it watches the memory of the
 * web process, and then the same file with one byte more, which must be refused. Exits 1 when memory grows by 64 MB or more, a
 * digest is wrong, or the larger file is not refused or leaves anything behind.
 */

const { values: options } = parseArgs({ options: { gib: { type: "string", default: "1" } } });
const FILE_BYTES = Number(options.gib) * 1024 ** 3;
const MOST_GROWTH_MB = 64;
const LOOK_EVERY_MS = 50;
const run = promisify(execFile);

let failures = 0;
function report(isGood: boolean, text: string): void {
  if (!isGood) failures++;
  console.log(`${isGood ? "ok  " : "FAIL"} ${text}`);
}
const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2);
const rate = (bytes: number, ms: number) =>
  `${(ms / 1000).toFixed(1)} s, ${Math.round(megabytes(bytes) / (ms / 1000))} MB/s`;

const installation = await openInstallation(0, { RATE_LIMIT_KEY_PER_MINUTE: "1000000" });
const { base, directory } = installation;
const pid = installation.parts[0]?.child.pid ?? 0;
await installation.ready();
const { apiKey } = await installation.tenant("Uploads");

/** Writes a LoRA that has exactly this many bytes. */
async function writeLora(path: string, byteLength: number): Promise<void> {
  // The pair are two matrices of 16 × n numbers of two bytes each; spaces at the end of the header make up the rest.
  const n = Math.floor((byteLength - 4096) / 64);
  const { header } = headerOf({ format: "pt" }, []);
  const place = (name: string, shape: number[], begin: number) =>
    `,"lora_unet_double_blocks_0_img_attn_qkv.lora_${name}.weight":{"dtype":"F16","shape":[${shape}],"data_offsets":[${begin},${begin + n * 32}]}`;
  const text = header
    .toString()
    .replace(/\}$/, `${place("down", [16, n], 0)}${place("up", [n, 16], n * 32)}}`);
  const padded = Buffer.from(text.padEnd(byteLength - 8 - n * 64));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(padded.length));
  const file = await open(path, "w");
  await file.writeFile(Buffer.concat([prefix, padded]));
  const piece = Buffer.alloc(1024 ** 2);
  for (let left = n * 64, at = 0; left > 0; left -= piece.length, at++) {
    piece.fill(`Capstan weighs no weights, piece ${at}. `);
    await file.writeFile(piece.subarray(0, Math.min(piece.length, left)));
  }
  await file.close();
}

/** Uploads a file; the text `behind` is appended to the file's bytes, within the same form part. */
async function upload(path: string, displayName: string, behind = "") {
  const boundary = "----prove";
  const request = httpRequest(`${base}/v1/adapters/upload`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
  });
  const answered = new Promise<{ status: number; json: { source?: { sha256: string }; detail?: unknown } }>(
    (resolve, reject) => {
      request.on("error", reject);
      request.on("response", async (response) => {
        let text = "";
        for await (const part of response) text += part;
        resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) });
      });
    },
  );
  const head = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}`;
  async function* body() {
    yield Buffer.from(
      `${head("displayName")}"\r\n\r\n${displayName}\r\n${head("file")}"; filename="a.safetensors"\r\n\r\n`,
    );
    yield* createReadStream(path, { highWaterMark: 1024 ** 2 });
    yield Buffer.from(`${behind}\r\n--${boundary}--\r\n`);
  }
  const sent = pipeline(body, request).catch(() => {}); // the answer says what went wrong
  const answer = await answered;
  await sent;
  return answer;
}

async function statusOf(field: "VmRSS" | "VmHWM"): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1]) * 1024;
}

/** Processor time of all threads of the web process, in seconds: what the work costs, however busy the machine is. */
async function cpuSeconds(): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user = 0, system = 0] = text.slice(text.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
  return (user + system) / 100; // Linux counts a hundred ticks per second
}

/** Does the work while it watches the memory of the web process and how long other requests wait meanwhile. */
async function watched<T>(work: () => Promise<T>) {
  await writeFile(`/proc/${pid}/clear_refs`, "5"); // resets the peak (VmHWM)
  const before = await statusOf("VmRSS");
  let hasEnded = false;
  let most = before;
  let longestMs = 0;
  const looking = (async () => {
    while (!hasEnded) {
      most = Math.max(most, await statusOf("VmRSS"));
      const asked = performance.now();
      await (
        await fetch(`${base}/v1/adapters?limit=1`, { headers: { authorization: `Bearer ${apiKey}` } })
      ).text();
      longestMs = Math.max(longestMs, performance.now() - asked);
      await sleep(LOOK_EVERY_MS);
    }
  })();
  const start = performance.now();
  const cpuBefore = await cpuSeconds();
  const result = await work();
  const ms = performance.now() - start;
  const cpu = (await cpuSeconds()) - cpuBefore;
  hasEnded = true;
  await looking;
  const [after, peak] = [await statusOf("VmRSS"), await statusOf("VmHWM")];
  return { result, ms, cpu, before, most, after, peak, longestMs };
}

async function timed(command: string, ...words: string[]) {
  const start = performance.now();
  const { stdout } = await run(command, words);
  return { stdout, ms: performance.now() - start };
}

const kept = async () => {
  const entries = await readdir(join(directory, "artifacts"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
};

const path = join(directory, "lora.safetensors");
const small = join(directory, "small.safetensors");
await writeLora(small, 8 * 1024 ** 2);
const atRest = await statusOf("VmRSS");
for (let n = 0; n < 3; n++) {
  const { status, json } = await upload(small, `Warm ${n}`);
  if (status !== 200) throw new Error(`An upload of 8 MiB failed: ${JSON.stringify(json)}`);
}
console.log(
  `     web process: ${megabytes(atRest)} MB at rest, ${megabytes(await statusOf("VmRSS"))} MB after three uploads of 8 MiB`,
);

await writeLora(path, FILE_BYTES);
const hashed = await timed("openssl", "dgst", "-sha256", path);
const wanted = /= ([0-9a-f]{64})/.exec(hashed.stdout)?.[1];
const copied = await timed("sh", "-c", `cp "$1" "$1.copy" && sync "$1.copy"`, "sh", path);
await rm(`${path}.copy`);
console.log(
  `     openssl dgst -sha256: ${rate(FILE_BYTES, hashed.ms)}; cp and sync: ${rate(FILE_BYTES, copied.ms)}`,
);

const name = `${options.gib} GiB`;
const good = await watched(() => upload(path, name));
report(
  good.result.json.source?.sha256 === wanted,
  `${name} uploaded, digest as openssl has it (${rate(FILE_BYTES, good.ms)}; ${good.cpu.toFixed(1)} s of processor time)`,
);
const grown = megabytes(good.peak - good.before);
report(
  grown < MOST_GROWTH_MB,
  `web process: RSS ${megabytes(good.before)} MB before, at most ${megabytes(good.most)} seen, ${megabytes(good.after)} after; peak ${megabytes(good.peak)}, so it grew by ${grown} MB`,
);
console.log(`     a list of adapters took ${Math.round(good.longestMs)} ms meanwhile at most`);

const before = await kept();
const bad = await watched(() => upload(path, "Refused", "!"));
report(
  bad.result.status === 422 && JSON.stringify(bad.result.json.detail).includes("trailing_bytes"),
  `${name} and a byte refused (${rate(FILE_BYTES, bad.ms)}; ${bad.cpu.toFixed(1)} s of processor time); RSS grew by ${megabytes(bad.peak - bad.before)} MB`,
);
report((await kept()).join() === before.join(), "the refused file left nothing in the store");

await installation.close(false);
process.exit(failures > 0 ? 1 : 0);

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPieces, checkSafetensors } from "@/server/compute/safetensors";
import { parseHeader } from "@/server/compute/safetensors/header";
import { filesStore } from "@/server/domain/artifacts/files";
import { BAD_FILES, GOOD_FILES } from "@/testing/corpora/safetensors/bad-files";
import { headerOf } from "@/testing/corpora/safetensors/parts";
import { endWithChildren, runToEnd } from "../launch/ending";

/*
 * `npm run prove:safetensors` shows that a file of 1 GiB passes the check, alone and into the artifact store, while memory
 * grows by less than 64 MB, and that no header occupies the event loop for long. Where SAFETENSORS_PYTHON names a Python with
 * the format's own package, the verdicts that the corpus states for that package are compared with the package itself.
 */

const GIB = 1024 ** 3;
const PIECE_BYTES = 64 * 1024;
const MOST_GROWTH_MB = 64;
const MOST_TURN_MS = 100;

let failures = 0;
function report(isGood: boolean, text: string): void {
  if (!isGood) failures++;
  console.log(`${isGood ? "ok  " : "FAIL"} ${text}`);
}

const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2);

/** The largest resident size in bytes since the measurement began; `fileOfLength` samples the size once per MiB of the file. */
let mostRss = 0;

/** Yields a file with this many bytes of data; each piece is a buffer of its own, as from a socket. */
async function* fileOfLength(dataBytes: number): AsyncGenerator<Uint8Array> {
  const { header } = headerOf({ format: "pt" }, []);
  const text = header
    .toString()
    .replace(/\}$/, `,"a":{"dtype":"U8","shape":[${dataBytes}],"data_offsets":[0,${dataBytes}]}}`);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(text.length));
  yield Buffer.concat([prefix, Buffer.from(text)]);
  for (let at = 0; at < dataBytes; at += PIECE_BYTES) {
    yield Buffer.alloc(Math.min(PIECE_BYTES, dataBytes - at), at % 251);
    if (at % 1024 ** 2 === 0) mostRss = Math.max(mostRss, process.memoryUsage.rss());
  }
}

async function proveMemory(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-safetensors-"));
  try {
    const store = filesStore(directory);
    const ways = {
      "through the check": async (bytes: number) => (await checkSafetensors(fileOfLength(bytes))).sha256,
      "through the check into the store": async (bytes: number) =>
        (await store.put(checkPieces(fileOfLength(bytes), {}, () => {}))).sha256,
    };
    for (const [way, run] of Object.entries(ways)) {
      const before = process.memoryUsage.rss();
      mostRss = before;
      const start = performance.now();
      await run(GIB);
      const seconds = (performance.now() - start) / 1000;
      const grown = megabytes(mostRss - before);
      report(
        grown < MOST_GROWTH_MB,
        `1 GiB ${way}: RSS from ${megabytes(before)} to at most ${megabytes(mostRss)} MB (${seconds.toFixed(1)} s)`,
      );
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Measures the processor time of each stretch between two pauses, so that other work on the machine does not count. */
function proveTurns(): void {
  const names = (write: (n: number) => string) =>
    `{${Array.from({ length: 50_000 }, (_, n) => `${write(n)}:{"dtype":"U8","shape":[1,1],"data_offsets":[${n},${n + 1}]}`).join(",")}}`;
  const value = (text: string) =>
    `{"__metadata__":{"a":"${text}"},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`;
  const most = 16 * 1024 ** 2;
  const headers = {
    "50,000 tensors with long names": names((n) => `"t${n}${"x".repeat(240)}"`),
    "50,000 tensors with escaped names": names((n) => `"t${n}${"\\u0061".repeat(40)}"`),
    "50,000 tensors in reverse": names((n) => `"t${49_999 - n}"`),
    "one value of 16 MiB": value("x".repeat(most - 200)),
    "one value of 16 MiB, all escapes": value("\\u00e9".repeat((most - 200) / 6)),
    "16 MiB of spaces": value("").replace(",", `,${" ".repeat(most - 200)}`),
  };
  for (const [name, text] of Object.entries(headers)) {
    const bytes = Buffer.from(text.padEnd(most));
    let longest = 0;
    let total = 0;
    for (const work = parseHeader(bytes); ; ) {
      const start = process.cpuUsage();
      const { done } = work.next();
      const { user, system } = process.cpuUsage(start);
      longest = Math.max(longest, (user + system) / 1000);
      total += (user + system) / 1000;
      if (done) break;
    }
    report(
      longest < MOST_TURN_MS,
      `header of 16 MiB, ${name}: ${longest.toFixed(0)} ms of processor time at once at most, ${total.toFixed(0)} in all`,
    );
  }
}

async function proveReference(python: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-safetensors-"));
  try {
    const files = [
      ...BAD_FILES,
      ...GOOD_FILES.map(({ name, bytes }) => ({ name, bytes, reference: "accepts" as const })),
    ];
    for (const [n, { bytes }] of files.entries()) await writeFile(join(directory, String(n)), bytes());
    const program = `
import safetensors, sys
for n in range(${files.length}):
    try:
        safetensors.deserialize(open(sys.argv[1] + "/" + str(n), "rb").read())
        print("accepts")
    except Exception:
        print("refuses")
print(safetensors.__version__)`;
    const { stdout, stderr } = await runToEnd(python, ["-c", program, directory]);
    const verdicts = stdout.trim().split("\n");
    const version = verdicts.pop();
    report(
      verdicts.length === files.length,
      `${files.length} files shown to safetensors ${version}${stderr}`,
    );
    for (const [n, { name, reference }] of files.entries()) {
      if (verdicts[n] !== reference)
        report(false, `${name}: the package ${verdicts[n]} it, the corpus says ${reference}`);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

endWithChildren();
await proveMemory();
proveTurns();
const python = process.env.SAFETENSORS_PYTHON;
if (python) await proveReference(python);
else console.log("--   SAFETENSORS_PYTHON names no Python: not compared with the format's own package");
process.exitCode = failures > 0 ? 1 : 0;

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { refuseHostileJson } from "@/server/api/json-scan";
import { type KeySet, type Verification, verifyReceipt } from "@/server/verify";

const USAGE = `npm run verify -- <receipt.json> [--jwks <file or URL>] [--json]

Checks a receipt by itself: its hash, its signature, and that the key is one of the published set.
<receipt.json> is what GET /v1/jobs/{job_id}/receipt answered; - reads standard input.
--jwks is a saved /.well-known/jwks.json or where to get it; without it, the installation running here is asked.
Exit code: 0 everything holds, 1 something is false, 2 it could not be checked.`;

/** What the command prints and exits with. */
export type Outcome = { code: 0 | 1 | 2; out: string; error: string };

/** Something the caller can put right. */
class Complaint extends Error {}

const KeySetShape = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** Verifies the receipt named by these arguments. Asks no service but the one that publishes the keys, if it must. */
export async function runVerify(args: string[]): Promise<Outcome> {
  try {
    const { values, positionals } = readArguments(args);
    if (values.help) return { code: 0, out: USAGE, error: "" };
    const [file, ...more] = positionals;
    if (!file || more.length > 0) throw new Complaint(`Name one receipt.\n\n${USAGE}`);
    const receipt = await readReceipt(file);
    const keys = await readKeys(values.jwks ?? (await publishedHere()));
    const verification = await verifyReceipt(receipt, keys);
    const out = values.json ? JSON.stringify(verification) : shown(verification);
    return { code: verification.verified ? 0 : 1, out, error: "" };
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    return { code: 2, out: "", error: error.message };
  }
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        jwks: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Complaint(`${messageOf(error)}\n\n${USAGE}`);
  }
}

async function readReceipt(file: string): Promise<unknown> {
  const text = await textOf(file === "-" ? "/dev/stdin" : file);
  try {
    // Two members of one name would be two receipts in one: what one reader sees, another does not.
    refuseHostileJson(text);
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`${file} is no receipt: ${messageOf(error)}`);
  }
}

async function readKeys(place: string): Promise<KeySet> {
  const text = /^https?:\/\//.test(place) ? await fetched(place) : await textOf(place);
  try {
    return KeySetShape.parse(JSON.parse(text));
  } catch {
    throw new Complaint(`${place} is no JWK Set.`);
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Complaint(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function fetched(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    return await answer.text();
  } catch (error) {
    throw new Complaint(`The keys at ${url} could not be read: ${messageOf(error)}`);
  }
}

/** Where the installation over the data directory of this folder publishes its keys. */
async function publishedHere(): Promise<string> {
  try {
    const file = join(process.env.CAPSTAN_DATA_DIR || ".data", "runtime.json");
    const { baseUrl } = z.object({ baseUrl: z.string() }).parse(JSON.parse(await readFile(file, "utf8")));
    return new URL("/.well-known/jwks.json", baseUrl).href;
  } catch {
    throw new Complaint("Nothing runs here to ask for the keys. Name them: --jwks <file or URL>.");
  }
}

function shown({ verified, receiptId, checks }: Verification): string {
  const lines = checks.map(
    ({ name, ok, detail }) => `${ok ? "ok   " : "FALSE"}  ${name.padEnd(15)}  ${detail}`,
  );
  return [
    ...lines,
    "",
    `${receiptId ?? "This"} ${verified ? "is what was sealed." : "is NOT what was sealed."}`,
  ].join("\n");
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

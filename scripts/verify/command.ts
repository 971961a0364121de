import { parseArgs } from "node:util";
import { placeIn, readJson, type Verification, verifyText, type Witnesses } from "@/server/verify";
import { Complaint, copyOf, documentOf, documentsIn, keysFor, messageOf, readSourceText } from "./sources";

const usage = (program: string) => `${program} <file>... [options]

Verifies receipts, pinned records, manifests and lockfiles offline: their form, their hash, their signature, and that
the key is in the published set. Use - to read standard input.

  --keys <file or URL>   a saved /.well-known/jwks.json (default: the keys of --url, a jwks.json next to the document, or
                         the keys of the installation running here)
  --against <file>       another copy of the document; reports where they differ
  --receipts <folder>    receipts and records to compare with a manifest's lines or a lockfile
  --input <file>         the prompt to compare with the hashes of a record or lockfile
  --instructions <file>  the instructions; requires --input
  --url <address>        a running service: uses its keys and, if CAPSTAN_API_KEY is set, compares with its copy
  --json                 print JSON, one line per document

Exit codes: 0 all documents verified, 1 a check failed, 2 something could not be read.`;

/** Output and exit code of the command; `usage` says what the codes mean. */
type Outcome = { code: 0 | 1 | 2; out: string; error: string };

export type Surroundings = {
  /** Name of the command in its usage text. */
  program?: string;
  /** Finds the URL of a jwks.json when none is given and none is next to the document. */
  publishedAt?: () => Promise<string>;
  /** Explanations for a document that does not verify. */
  explain?: (text: string, verification: Verification) => string[];
};

/**
 * Verifies the documents named by these arguments. Wrong arguments and files that cannot be read do not throw: their code is 2.
 */
export async function runVerify(args: string[], around: Surroundings = {}): Promise<Outcome> {
  const { program = "npm run verify --" } = around;
  let options: ReturnType<typeof readArguments>;
  try {
    options = readArguments(args, program);
  } catch (error) {
    return { code: 2, out: "", error: messageOf(error) };
  }
  const { values, positionals: files } = options;
  if (values.help) return { code: 0, out: usage(program), error: "" };
  const outcomes: Outcome[] = [];
  for (const file of files) outcomes.push(await verifyFile(file, values, files.length > 1, around));
  return {
    code: ([2, 1] as const).find((worst) => outcomes.some(({ code }) => code === worst)) ?? 0,
    out: outcomes.flatMap(({ out }) => out || []).join(values.json ? "\n" : "\n\n"),
    error: outcomes.flatMap(({ error }) => error || []).join("\n"),
  };
}

type Values = ReturnType<typeof readArguments>["values"];

async function verifyFile(
  file: string,
  values: Values,
  isOneOfMany: boolean,
  { explain = () => [], publishedAt }: Surroundings,
): Promise<Outcome> {
  try {
    const text = await readSourceText(file);
    const read = readJson(text);
    if ("unreadable" in read) {
      const other = values.against ? `\n${firstDifference(text, await readSourceText(values.against))}` : "";
      throw new Complaint(`${file} is ${read.unreadable}.${other}`);
    }
    const keys = await keysFor(file, values, publishedAt);
    const verification = await verifyText(text, keys, await witnessesFor(text, values));
    const said = verification.verified ? [] : explain(text, verification);
    const out = values.json
      ? JSON.stringify({ file, ...verification, explanations: said })
      : [...(isOneOfMany ? [`${file}:`] : []), shown(verification, said)].join("\n");
    return { code: verification.verified ? 0 : 1, out, error: "" };
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    return { code: 2, out: "", error: error.message };
  }
}

async function witnessesFor(text: string, values: Values): Promise<Witnesses> {
  const other = values.against
    ? await documentOf(values.against)
    : values.url
      ? await copyOf(text, values.url)
      : undefined;
  return {
    ...(other === undefined ? {} : { other }),
    ...(values.receipts ? { receipts: await documentsIn(values.receipts) } : {}),
    ...(values.input
      ? {
          prompt: {
            input: await readSourceText(values.input),
            ...(values.instructions ? { instructions: await readSourceText(values.instructions) } : {}),
          },
        }
      : {}),
  };
}

function readArguments(args: string[], program: string) {
  try {
    const read = parseArgs({
      args,
      options: {
        keys: { type: "string" },
        against: { type: "string" },
        receipts: { type: "string" },
        input: { type: "string" },
        instructions: { type: "string" },
        url: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
      allowPositionals: true,
    });
    const { values, positionals } = read;
    if (values.help) return read;
    if (positionals.length === 0) throw new Complaint("Name at least one document.");
    if (values.against && positionals.length > 1)
      throw new Complaint("--against works with one document only.");
    if (values.instructions && !values.input) throw new Complaint("--instructions requires --input.");
    if (values.url && !URL.canParse(values.url))
      throw new Complaint("--url must be a URL, such as https://capstan.example.com.");
    return read;
  } catch (error) {
    throw new Complaint(`${messageOf(error)}\n\n${usage(program)}`);
  }
}

function shown({ verified, kind, id, checks }: Verification, said: string[]): string {
  const lines = checks.map(
    ({ name, ok, detail }) => `${ok ? "ok   " : "FAIL "}  ${name.padEnd(23)}  ${detail}`,
  );
  const found = said.map((sentence) => `found  ${"".padEnd(23)}  ${sentence}`);
  const what = kind === null ? "This" : `${kind} ${id ?? "without an id"}`;
  const verdict = verified ? `${what} is what was sealed.` : `${what} is NOT what was sealed.`;
  return [...lines, ...found, "", verdict].join("\n");
}

/** Describes the first difference of two texts, one of which is not valid JSON. */
function firstDifference(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  const [here, there] = [text, other].map((each) => JSON.stringify(each.slice(at, at + 20)));
  return `The first difference is at ${placeIn(text, at)}: ${here} here and ${there} in the other copy.`;
}

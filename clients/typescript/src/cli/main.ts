import { Command, CommanderError } from "commander";
import { runVerify } from "../../../../scripts/verify/command";
import { findCapability, printCapabilities, printCapability } from "./catalog";
import { doctor, whoami } from "./doctor";
import { login, logout } from "./login";
import { commandSettings } from "./settings";
import { Ended, EXIT_CODES, exitCodeOf, reportOf, type Terminal, terminalOf } from "./terminal";
import * as work from "./work";

declare const CAPSTAN_CLIENT_VERSION: string | undefined;

// Node warns that Ed25519 in Web Crypto is experimental; it is still the signature of RFC 8032.
process.removeAllListeners("warning");

// npm sets this for each command that it runs, but paths are relative to the current directory here.
delete process.env.INIT_CWD;

const isJson = process.argv.includes("--json");
const terminal: Terminal = terminalOf(isJson);

const program = new Command("capstan")
  .description("Run capabilities of a Capstan service, and read their jobs, artifacts and receipts.")
  .version(typeof CAPSTAN_CLIENT_VERSION === "string" ? CAPSTAN_CLIENT_VERSION : "from source")
  .exitOverride()
  .configureOutput({ writeErr: (text) => (isJson ? undefined : process.stderr.write(text)) })
  .addHelpText(
    "after",
    `
CAPSTAN_BASE_URL and CAPSTAN_API_KEY take precedence over the settings that \`capstan login\` saved.
Exit codes: ${Object.entries(EXIT_CODES)
      .map(([name, code]) => `${code} ${name}`)
      .join(", ")}.`,
  );

/** Adds a command with the options that every command but `verify` has. */
function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option("--json", "print only JSON on standard output")
    .option("--base-url <address>", "the service's URL (default: CAPSTAN_BASE_URL or the saved one)")
    .option("--project <id>", "the project for requests that name none");
}
/** Adds a group of commands. */
const group = (name: string, description: string) => program.command(name).description(description);

command(program, "login", "sign in on this machine, by approving it in a browser")
  .option("--api-key <->", "save an existing key, read from standard input")
  .option("--environment <slug>", "environment of the new key")
  .option("--expires-in-days <days>", "lifetime of the new key (default: 90)")
  .action((options) => login(terminal, options));
command(program, "logout", "revoke the key that login created, end the session, and remove both").action(() =>
  logout(terminal),
);
command(program, "whoami", "show the key's identity, project and environment").action((options) =>
  whoami(terminal, options),
);
command(program, "doctor", "check the setup, and say how to fix problems")
  .argument("[capability...]", "capabilities to check")
  .action((capabilities, options) => doctor(terminal, options, capabilities));

const capabilities = group("capabilities", "list, find and describe capabilities");
command(capabilities, "list", "list capabilities")
  .option("--query <words>", "only those with these words")
  .action((options) => printCapabilities(terminal, options));
command(capabilities, "find <words...>", "find capabilities for an outcome, in your own words").action(
  (words, options) => findCapability(terminal, options, words),
);
command(capabilities, "describe <capability>", "show a capability's input, modes and an example").action(
  (key, options) => printCapability(terminal, options, key),
);

command(program, "run <capability>", "run a capability")
  .requiredOption("--input <json|file|->", "the input: JSON, a JSON file, or - for standard input")
  .option("--max-cost-usd <amount>", "refuse to run if it could cost more")
  .option("--wait", "wait until the job has ended")
  .option("--timeout <seconds>", "how long to wait (default: 600)")
  .option("--out <folder>", "wait, and save the artifacts in this folder")
  .option("--model <name>", "the model to prefer")
  .option("--idempotency-key <key>", "repeating a key returns the first run")
  .action((capability, options) => work.runCapability(terminal, options, capability));

const jobs = group("jobs", "read and cancel jobs");
command(jobs, "list", "list jobs, newest first")
  .option("--status <status>")
  .option("--capability <key>")
  .option("--limit <count>")
  .option("--cursor <cursor>", "the cursor of the previous page")
  .action((options) => work.listJobs(terminal, options));
command(jobs, "get <job>", "show a job").action((job, options) => work.printJob(terminal, options, job));
command(jobs, "events <job>", "list a job's events, in order")
  .option("--follow", "stream events until the job has ended; with --json, one line per event")
  .action((job, options) => work.jobEvents(terminal, options, job));
command(jobs, "result <job>", "show a job's output").action((job, options) =>
  work.jobResult(terminal, options, job),
);
command(jobs, "cancel <job>", "cancel a job").action((job, options) =>
  work.cancelAndPrintJob(terminal, options, job),
);
command(jobs, "artifacts <job>", "list a job's artifacts")
  .option("--out <folder>", "save them in this folder, each verified against the hash in its receipt")
  .action((job, options) => work.jobArtifacts(terminal, options, job));

const receipts = group("receipts", "read receipts");
command(receipts, "get <job-or-receipt>", "print a receipt, as JSON").action((id, options) =>
  work.getReceipt(terminal, options, id),
);

program
  .command("verify", { hidden: false })
  .description("verify receipts, pinned records, manifests and lockfiles; see capstan verify --help")
  .helpOption(false)
  .allowUnknownOption()
  .argument("[arguments...]")
  .action(async (_, __, { args }: Command) => {
    const publishedAt = async () => new URL("/.well-known/jwks.json", commandSettings({}).baseUrl).href;
    const { code, out, error } = await runVerify(args, { program: "capstan verify", publishedAt });
    if (out) process.stdout.write(`${out}\n`);
    if (error) process.stderr.write(`${error}\n`);
    process.exitCode = code;
  });

process.once("SIGINT", () => process.exit(EXIT_CODES.interrupted));
// A reader such as `head` may close the pipe early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT_CODES.done;
    if (isJson) terminal.answer({ error: { code: "Usage", message: error.message } }, "");
    return EXIT_CODES.usage;
  }
  const code = exitCodeOf(error);
  if (error instanceof Ended) return code;
  const { value, text } = reportOf(error);
  if (isJson) terminal.answer(value, text);
  else terminal.note(text);
  return code;
}

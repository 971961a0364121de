import { Command, CommanderError } from "commander";
import { runVerify } from "../../../../scripts/verify-command";
import { describeCapability, findCapability, listCapabilities } from "./catalog";
import { doctor, whoami } from "./doctor";
import { login, logout } from "./login";
import { settingsOf } from "./settings";
import { Ended, EXIT_CODES, exitCodeOf, type Terminal, terminalOf, told } from "./terminal";
import * as work from "./work";

declare const CAPSTAN_CLIENT_VERSION: string | undefined;

// Node announces Ed25519 in Web Crypto as experimental; it is the signature of RFC 8032 all the same.
process.removeAllListeners("warning");

// npm leaves this to every command it runs; here files are named from where this process is.
delete process.env.INIT_CWD;

const isJson = process.argv.includes("--json");
const terminal: Terminal = terminalOf(isJson);

const program = new Command("capstan")
  .description("Runs capabilities of a Capstan service and reads what they left.")
  .version(typeof CAPSTAN_CLIENT_VERSION === "string" ? CAPSTAN_CLIENT_VERSION : "from source")
  .exitOverride()
  .configureOutput({ writeErr: (text) => (isJson ? undefined : process.stderr.write(text)) })
  .addHelpText(
    "after",
    `
CAPSTAN_BASE_URL and CAPSTAN_API_KEY win over what \`capstan login\` saved.
Exit codes: ${Object.entries(EXIT_CODES)
      .map(([name, code]) => `${code} ${name}`)
      .join(", ")}.`,
  );

/** A command with the options that all of them take. */
function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option("--json", "answer with JSON alone on standard output")
    .option("--base-url <address>", "the service; CAPSTAN_BASE_URL or what was saved when not given")
    .option("--project <id>", "the project of requests that name none");
}
/** A group of commands, one of which is meant where none is named. */
const group = (name: string, description: string) => program.command(name).description(description);

command(program, "login", "sign this machine in: a person approves it in a browser")
  .option("--api-key <->", "keep a key that is read from standard input")
  .option("--environment <slug>", "of the key that is made")
  .option("--expires-in-days <days>", "of the key that is made; 90 when not given")
  .action((options) => login(terminal, options));
command(program, "logout", "revoke the key that login made, end the session, forget both").action(() =>
  logout(terminal),
);
command(program, "whoami", "who and where the key is").action((options) => whoami(terminal, options));
command(program, "doctor", "look at everything that is needed and say what to do")
  .argument("[capability...]", "that should be ready")
  .action((capabilities, options) => doctor(terminal, options, capabilities));

const capabilities = group("capabilities", "what there is");
command(capabilities, "list", "all of them")
  .option("--query <words>", "those with these words")
  .action((options) => listCapabilities(terminal, options));
command(capabilities, "find <words...>", "the ones for an intended outcome, in your own words").action(
  (words, options) => findCapability(terminal, options, words),
);
command(capabilities, "describe <capability>", "its input, its modes and an example").action((key, options) =>
  describeCapability(terminal, options, key),
);

command(program, "run <capability>", "run a capability")
  .requiredOption("--input <json|file|->", "the input: JSON, a file of it, or - for standard input")
  .option("--max-cost-usd <amount>", "refuse what could cost more")
  .option("--wait", "wait for a job's end")
  .option("--timeout <seconds>", "of the waiting; 600 when not given")
  .option("--out <folder>", "wait, and save the artifacts there")
  .option("--model <name>", "the model to prefer")
  .option("--idempotency-key <key>", "the same key is the same submission")
  .action((capability, options) => work.run(terminal, options, capability));

const jobs = group("jobs", "durable work");
command(jobs, "list", "newest first")
  .option("--status <status>")
  .option("--capability <key>")
  .option("--limit <count>")
  .option("--cursor <cursor>", "where the last page ended")
  .action((options) => work.listJobs(terminal, options));
command(jobs, "get <job>", "how it stands").action((job, options) => work.getJob(terminal, options, job));
command(jobs, "events <job>", "what happened, in order")
  .option("--follow", "as it happens, to the job's end; with --json one line for each")
  .action((job, options) => work.jobEvents(terminal, options, job));
command(jobs, "result <job>", "its output").action((job, options) => work.jobResult(terminal, options, job));
command(jobs, "cancel <job>", "ask it to end").action((job, options) =>
  work.cancelJob(terminal, options, job),
);
command(jobs, "artifacts <job>", "its files")
  .option("--out <folder>", "save them there, each held against the hash that its receipt seals")
  .action((job, options) => work.jobArtifacts(terminal, options, job));

const receipts = group("receipts", "evidence");
command(receipts, "get <job-or-receipt>", "the receipt as it was sealed, as JSON").action((id, options) =>
  work.getReceipt(terminal, options, id),
);

program
  .command("verify", { hidden: false })
  .description("check receipts, pinned records, manifests and lockfiles; see capstan verify --help")
  .helpOption(false)
  .allowUnknownOption()
  .argument("[arguments...]")
  .action(async (_, __, { args }: Command) => {
    const publishedAt = async () => new URL("/.well-known/jwks.json", settingsOf({}).baseUrl).href;
    const { code, out, error } = await runVerify(args, { program: "capstan verify", publishedAt });
    if (out) process.stdout.write(`${out}\n`);
    if (error) process.stderr.write(`${error}\n`);
    process.exitCode = code;
  });

process.once("SIGINT", () => process.exit(EXIT_CODES.interrupted));
// Who reads no further, such as `head`, has had enough.
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
  const { value, text } = told(error);
  if (isJson) terminal.answer(value, text);
  else terminal.note(text);
  return code;
}

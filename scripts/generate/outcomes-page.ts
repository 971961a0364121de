import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OUTCOMES, type OutcomeKind, rowOf, type Settlement } from "@/server/domain/executions/outcomes";

export const OUTCOMES_PAGE = "docs/reference/outcomes.md";
const FROM = "<!-- Written by npm run generate from server/domain/executions/outcomes.ts. -->\n";
const UNTIL = "<!-- End of the generated table. -->\n";

/**
 * The page's words for an outcome, besides its row: a description, the codes if they are not the row's, and the status if it is
 * not failed.
 */
type Words = { what: string; code?: string; status?: "succeeded" | "canceled" };

/** An outcome without words is not a provider call. */
const WORDS: Record<OutcomeKind, Words | null> = {
  result: { what: "The provider answered", status: "succeeded" },
  result_of_unknown_cost: { what: "It answered, and did not report its usage⁵", status: "succeeded" },
  ran_here: null,
  unsendable: { what: "The connection or the model was removed before sending" },
  content_gone: { what: "A file, adapter weights or the stored request were removed before sending" },
  refused_unsent: { what: "The request cannot be expressed for this provider" },
  refused: {
    what: "The provider refused the request (a definite 4xx, or a redirect, which is not followed)",
  },
  refused_after_work: { what: "It refused and reported usage, or its content filter stopped the answer" },
  capacity: { what: "It had no capacity (429, 529, or a 503 that says so) until the wait ended" },
  unreachable: { what: "It could not be reached (DNS, refused connection, TLS)" },
  error_with_usage: { what: "It failed (5xx, 408), and reported its usage" },
  error_after_output: {
    what: "It reported an error after it had delivered text, and did not report its usage⁵",
  },
  error: { what: "It failed without reporting usage, or its answer cannot be read" },
  billed_error: { what: "The same, from a provider that is documented to bill its errors" },
  unusable: {
    what: "Its answer is empty, is cut off or does not fit the schema",
    code: "`PROVIDER_EMPTY_OUTPUT`, `OutputLimitReached`¹, `StructuredOutputInvalid`, …",
  },
  unusable_without_usage: { what: "The same, without reported usage", code: "the same" },
  lost: { what: "The connection broke, or a process stopped after sending" },
  timed_out: { what: "No answer within the time limit, request sent" },
  timed_out_unsent: { what: "The time limit ended before anything was sent" },
  canceled: { what: "Canceled after sending, no answer seen", code: "`Cancelled`", status: "canceled" },
  canceled_unsent: {
    what: "Canceled before anything was sent",
    code: "`Cancelled`",
    status: "canceled",
  },
  stopped_unsent: { what: "Its process stopped before anything was sent" },
  unavailable_unsent: { what: "The database did not answer in time, before anything was sent" },
};

const MONEY: Record<Settlement, [reservation: string, charged: string]> = {
  cost: ["settled", "its usage at list price"],
  hold: ["settled", "the whole reservation"],
  released: ["released", "nothing"],
  exposed: ["released", "nothing³"],
  ambiguous: ["ambiguous", "unknown"],
};

/** The table of outcomes, in Markdown. */
export function outcomesTable(): string {
  const kinds = Object.keys(OUTCOMES) as OutcomeKind[]; // its keys are the kinds
  const lines = kinds.flatMap((kind) => {
    const words = WORDS[kind];
    if (!words) return [];
    const { settlement, isSafe, pinned, ...row } = rowOf(kind);
    const [reservation, charged] = MONEY[settlement];
    const status = words.status ?? (kind === "lost" ? "failed²" : "failed");
    const line = (what: string, status: string, code: string, submission: string) =>
      `| ${[what, status, code, submission, reservation, charged, isSafe ? "yes" : "no"].join(" | ")} |`;
    const code = words.code ?? (row.code === null ? "" : `\`${row.code}\``);
    return [
      line(words.what, status, code, row.submission),
      ...(pinned
        ? [
            line(
              "The same, for a pinned execution",
              settlement === "ambiguous" ? "ambiguous" : "failed",
              `\`${pinned.code}\``,
              pinned.submission,
            ),
          ]
        : []),
    ];
  });
  return [
    "| What happened | Status | `error.code` | Submission | Reservation | Charged | New key safe |",
    "|---|---|---|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}

/** The page with the table of the code. */
export function withOutcomes(page: string): string {
  const [from, until] = [page.indexOf(FROM), page.indexOf(UNTIL)];
  if (from < 0 || until < from) throw new Error(`${OUTCOMES_PAGE} lacks the marks of its generated table.`);
  return `${page.slice(0, from + FROM.length)}\n${outcomesTable()}\n${page.slice(until)}`;
}

/** Writes the table into its page; returns the page's path if that changed it. */
export function writeOutcomes(root: string): string[] {
  const path = join(root, OUTCOMES_PAGE);
  const page = readFileSync(path, "utf8");
  const fresh = withOutcomes(page);
  if (fresh === page) return [];
  writeFileSync(path, fresh);
  return [OUTCOMES_PAGE];
}

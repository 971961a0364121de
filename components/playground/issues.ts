import type { Failure, FieldIssue } from "@/components/data/trpc";

type Whole = Record<string, unknown>;

/** Issues by path in the input; `sent` is the input as sent. */
export function fieldIssues(failure: Failure | null, sent: Whole | null): FieldIssue[] {
  if (!failure || !sent) return [];
  const within = failure.issues.map((issue) => ({ ...issue, loc: inInput(issue.loc) }));
  const { field } = failure.details;
  if (within.length > 0 || typeof field !== "string") return within;
  const loc = inInput(
    field
      .replace(/^\//, "")
      .split(/[./]/)
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
  );
  return [{ loc, msg: failure.message, type: failure.code ?? "" }];
}

/** The issues that still apply: those of fields that have not changed since `sent`. */
export const standing = (issues: FieldIssue[], input: Whole, sent: Whole | null) =>
  issues.filter(({ loc }) => valueAt(input, loc) === valueAt(sent, loc));

const inInput = (loc: (string | number)[]) => {
  const inBody = loc[0] === "body" ? loc.slice(1) : loc;
  return inBody[0] === "input" ? inBody.slice(1) : inBody;
};

function valueAt(whole: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | undefined)?.[step],
    whole,
  );
}

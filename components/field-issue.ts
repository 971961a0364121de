/** What is wrong with one field of a request. */
export type FieldIssue = {
  loc: (string | number)[];
  msg: string;
  type: string;
  /** The bound that was exceeded, if any. */
  ctx?: { minimum?: number; maximum?: number };
};

const BOUNDS: Record<string, (bound: number) => string> = {
  string_too_short: (least) => (least === 1 ? "This cannot be empty." : `At least ${least} characters.`),
  string_too_long: (most) => `At most ${most.toLocaleString("en")} characters.`,
  array_too_short: (least) => `At least ${least}.`,
  array_too_long: (most) => `At most ${most}.`,
  greater_than_equal: (least) => `At least ${least}.`,
  greater_than: (bound) => `More than ${bound}.`,
  less_than_equal: (most) => `At most ${most}.`,
  less_than: (bound) => `Less than ${bound}.`,
};

/**
 * An issue as a person reads it. A schema's default messages about bounds and whole numbers (`expected string to have
 * >=1 characters`) are for programs.
 */
export function inWords(issue: FieldIssue): FieldIssue {
  if (issue.type === "int_type" && issue.msg.startsWith("Invalid input: "))
    return { ...issue, msg: "Enter a whole number." };
  const bound = issue.ctx?.minimum ?? issue.ctx?.maximum;
  const words = BOUNDS[issue.type];
  if (!words || bound === undefined || !/^Too (small|big): /.test(issue.msg)) return issue;
  return { ...issue, msg: words(bound) };
}

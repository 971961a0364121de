import { cn } from "@/components/ui/class-names";
import { wordsOfCode } from "@/components/ui/wording";

/** Why an execution has no result, as lists say it: their rows have the code alone. Its page has the whole sentence. */
const REASONS: Record<string, string> = {
  ProviderRejected: "Refused by the provider",
  ProviderUnavailable: "Provider not available",
  PROVIDER_ERROR: "Error at the provider",
  PROVIDER_EMPTY_OUTPUT: "Empty answer",
  EmptyStructuredOutput: "Empty answer",
  StructuredOutputInvalid: "Answer does not fit the schema",
  StructuredOutputRepairFailed: "Answer does not fit the schema",
  ReasoningBudgetExhausted: "Tokens used up by reasoning",
  OutputLimitReached: "Answer too long",
  TRANSPORT_AMBIGUOUS: "No answer came back; it may have run",
  ExecutionTimeout: "No answer in time",
  QueueTimeout: "Not started in time",
  Cancelled: "Canceled",
  PayloadUnavailable: "Content no longer stored",
  InternalFailure: "Failed in this installation",
  failed: "Ended by an operator",
};

const reasonOf = (code: string): string => REASONS[code] ?? wordsOfCode(code);

/** The same, with the code to search for. */
export const Reason = ({ code, className }: { code: string; className?: string }) => (
  <span title={code} data-code={code} className={cn("text-xs", className)}>
    {reasonOf(code)}
  </span>
);

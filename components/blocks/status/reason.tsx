import { cn } from "@/components/ui/class-names";
import { wordsOfCode } from "@/components/ui/wording";

/** Where the code does not say it. The page of the execution has the whole sentence. */
const REASONS: Record<string, string> = {
  TRANSPORT_AMBIGUOUS: "No answer came back; it may have run",
  failed: "Ended by an operator",
};

const reasonOf = (code: string): string => REASONS[code] ?? wordsOfCode(code);

/** The same, with the code to search for. */
export const Reason = ({ code, className }: { code: string; className?: string }) => (
  <span title={code} data-code={code} className={cn("text-xs", className)}>
    {reasonOf(code)}
  </span>
);

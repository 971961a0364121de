import { cn } from "@/components/ui/class-names";
import { wordsOfCode } from "@/components/ui/wording";

/** Short reasons for codes that do not explain themselves. The execution's page has the full sentence. */
const REASONS: Record<string, string> = {
  TRANSPORT_AMBIGUOUS: "No answer came back; it may have run",
  failed: "Ended by an operator",
};

const reasonOf = (code: string): string => REASONS[code] ?? wordsOfCode(code);

/** The reason with the code to search for. */
export const Reason = ({ code, className }: { code: string; className?: string }) => (
  <span title={code} data-code={code} className={cn("text-xs", className)}>
    {reasonOf(code)}
  </span>
);

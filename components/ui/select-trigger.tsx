import { ChevronDown } from "lucide-react";
import { cn } from "./class-names";
import { fieldStyle } from "./input";

/** How a select looks while it is closed, before and after its list is loaded. */
export const triggerStyle = (className: string | undefined) =>
  cn(
    fieldStyle,
    "inline-flex items-center justify-between gap-2 text-left data-placeholder:text-faint [&>span]:truncate",
    className,
  );

export function SelectIcon() {
  return <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />;
}

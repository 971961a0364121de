import type { ComponentProps } from "react";
import { cn } from "./class-names";
import { useTypedEarly } from "./typed-early";

export const fieldStyle =
  "h-9 w-full min-w-0 rounded-md border border-line-strong/70 bg-surface px-3 text-base text-text shadow-card transition-colors placeholder:text-muted/80 hover:border-line-strong focus-visible:border-focus focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-focus/40 disabled:opacity-55 aria-invalid:border-bad aria-invalid:focus-visible:outline-bad/40";

/** Text in it runs in the direction of its own language. */
export function Input({ className, ref, ...rest }: ComponentProps<"input">) {
  return <input dir="auto" className={cn(fieldStyle, className)} ref={useTypedEarly(ref)} {...rest} />;
}

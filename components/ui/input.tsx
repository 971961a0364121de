import type { ComponentProps } from "react";
import { cn } from "./class-names";
import { useTypedEarly } from "./typed-early";

export const fieldStyle =
  "h-8 w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-base text-text transition-colors placeholder:text-faint hover:border-muted focus-visible:border-focus focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-focus/40 disabled:opacity-55 max-sm:h-11 max-sm:text-lg aria-invalid:border-bad aria-invalid:focus-visible:outline-bad/40";

/** A text input. Its text runs in the direction of the text's own language. */
export function Input({ className, ref, ...rest }: ComponentProps<"input">) {
  return <input dir="auto" className={cn(fieldStyle, className)} ref={useTypedEarly(ref)} {...rest} />;
}

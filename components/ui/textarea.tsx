import type { ComponentProps } from "react";
import { cn } from "./class-names";
import { fieldStyle } from "./input";
import { useTypedEarly } from "./typed-early";

/** Text of several lines; grows with what is written, up to its own limit. */
export function Textarea({ className, ref, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea
      dir="auto"
      className={cn(fieldStyle, "h-auto min-h-20 field-sizing-content max-h-96 py-2", className)}
      ref={useTypedEarly(ref)}
      {...rest}
    />
  );
}

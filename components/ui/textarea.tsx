import type { ComponentProps } from "react";
import { cn } from "./class-names";
import { fieldStyle } from "./input";
import { useTypedEarly } from "./typed-early";

/** Multi-line text that grows with its content, up to a limit. */
export function Textarea({ className, ref, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea
      dir="auto"
      className={cn(
        fieldStyle,
        "h-auto min-h-20 max-sm:h-auto field-sizing-content max-h-96 py-2",
        className,
      )}
      ref={useTypedEarly(ref)}
      {...rest}
    />
  );
}

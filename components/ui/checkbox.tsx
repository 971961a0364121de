"use client";
import { Check } from "lucide-react";
import { Checkbox as Primitive } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names";

export function Checkbox({ className, ...rest }: ComponentProps<typeof Primitive.Root>) {
  return (
    <Primitive.Root
      className={cn(
        "grid size-4 shrink-0 place-items-center rounded border border-line-strong bg-surface data-[state=checked]:border-primary data-[state=checked]:bg-primary data-[state=checked]:text-on-primary",
        className,
      )}
      {...rest}
    >
      <Primitive.Indicator>
        <Check aria-hidden className="size-3" strokeWidth={3} />
      </Primitive.Indicator>
    </Primitive.Root>
  );
}

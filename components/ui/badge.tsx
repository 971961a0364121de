import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps } from "react";
import { cn } from "./class-names";

const style = cva(
  "inline-flex h-5.5 max-w-full align-middle items-center gap-1 rounded-full border px-2 text-xs font-medium whitespace-nowrap [&_svg]:size-3.5 [&_svg]:shrink-0",
  {
    variants: {
      tone: {
        neutral: "border-line bg-sunken text-muted",
        good: "border-good-line bg-good-soft text-good",
        busy: "border-busy-line bg-busy-soft text-busy",
        warn: "border-warn-line bg-warn-soft text-warn",
        bad: "border-bad-line bg-bad-soft text-bad",
      },
    },
    defaultVariants: { tone: "neutral" },
  },
);

export type Tone = NonNullable<VariantProps<typeof style>["tone"]>;

export function Badge({ className, tone, ...rest }: ComponentProps<"span"> & { tone?: Tone }) {
  return <span className={cn(style({ tone }), className)} {...rest} />;
}

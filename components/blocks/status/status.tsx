import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";

export type Look = { label: string; icon: LucideIcon; tone?: Tone; isSpinning?: true };

/** An icon and words, since colour is never the only signal. */
export function LookBadge({
  look: { label, icon: Icon, tone, isSpinning },
  children,
  ...rest
}: { look: Look } & ComponentProps<typeof Badge>) {
  return (
    <Badge tone={tone} {...rest}>
      <Icon aria-hidden className={cn(isSpinning && "animate-spin")} />
      {children ?? label}
    </Badge>
  );
}

/** Defines the look of each status, for badges and for the options of a filter. */
export function defineStatus<const Name extends string>(looks: Record<Name, Look>) {
  return {
    // biome-ignore lint/correctness/noComponentHookFactories: it is called once for each kind of thing, as its module loads
    StatusBadge: ({ status, ...rest }: { status: Name } & ComponentProps<typeof Badge>) => (
      <LookBadge look={looks[status]} data-status={status} {...rest} />
    ),
    /** In the order of the declaration. */
    options: Object.entries<Look>(looks).map(([value, { label }]) => ({ value, label })),
    labelOf: (status: Name): string => looks[status].label,
  };
}

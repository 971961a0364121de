import type { ComponentProps } from "react";
import { cn } from "./class-names";

/** Holds the place of what is on its way. Decoration only: the region around it says `aria-busy`. */
export function Skeleton({ className, ...rest }: ComponentProps<"div">) {
  return <div aria-hidden className={cn("animate-pulse rounded bg-hover", className)} {...rest} />;
}

import type { ComponentProps } from "react";
import { cn } from "./class-names";

/** A placeholder for content that is loading, of its size, shown after 150 ms. Decoration only: the region around it has `aria-busy`. */
export function Skeleton({ className, ...rest }: ComponentProps<"div">) {
  return <div aria-hidden className={cn("skeleton rounded bg-hover", className)} {...rest} />;
}

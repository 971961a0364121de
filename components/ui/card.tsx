import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names";

export function Card({ className, ...rest }: ComponentProps<"section">) {
  return (
    <section
      className={cn("min-w-0 rounded-lg border border-line bg-surface shadow-card", className)}
      {...rest}
    />
  );
}

/** A card's header: title, hint and actions. */
export function CardHeader({
  title,
  id,
  hint,
  actions,
}: {
  title: ReactNode;
  /** Names the card when it is a region: `<Card aria-labelledby={id}>`. */
  id?: string;
  hint?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
      <h2 id={id} dir="auto" className="text-sm font-semibold">
        {title}
      </h2>
      {hint && <div className="text-xs text-muted">{hint}</div>}
      {actions && <div className="ml-auto flex items-center gap-1.5">{actions}</div>}
    </header>
  );
}

export function CardBody({ className, ...rest }: ComponentProps<"div">) {
  return <div className={cn("p-4", className)} {...rest} />;
}

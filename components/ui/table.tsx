import type { ComponentProps } from "react";
import { cn } from "./class-names";

/** A table that scrolls inside its own frame when it is wider than the page. */
export function Table({ className, ...rest }: ComponentProps<"table">) {
  return (
    <div className="relative w-full overflow-x-auto">
      <table className={cn("w-full border-collapse text-left text-sm tabular-nums", className)} {...rest} />
    </div>
  );
}

export function TableHead({ className, ...rest }: ComponentProps<"th">) {
  return (
    <th
      scope="col"
      className={cn(
        "h-9 border-b border-line px-3 text-xs font-medium whitespace-nowrap text-muted first:pl-4 last:pr-4",
        className,
      )}
      {...rest}
    />
  );
}

export function TableRow({ className, ...rest }: ComponentProps<"tr">) {
  return (
    <tr className={cn("group border-b border-line last:border-0 hover:bg-hover/60", className)} {...rest} />
  );
}

export function TableCell({ className, ...rest }: ComponentProps<"td">) {
  return <td className={cn("h-11 px-3 py-1.5 align-middle first:pl-4 last:pr-4", className)} {...rest} />;
}

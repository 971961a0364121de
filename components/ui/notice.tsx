import { cva, type VariantProps } from "class-variance-authority";
import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names";

const style = cva(
  "flex gap-2.5 rounded-lg border p-3 text-sm [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0",
  {
    variants: {
      tone: {
        busy: "border-busy-line bg-busy-soft text-busy",
        good: "border-good-line bg-good-soft text-good",
        warn: "border-warn-line bg-warn-soft text-warn",
        bad: "border-bad-line bg-bad-soft text-bad",
      },
    },
    defaultVariants: { tone: "busy" },
  },
);
const ICONS = { busy: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert };

/** A persistent message beside the item that it is about. */
export function Notice({
  tone,
  title,
  className,
  children,
  ...rest
}: Omit<ComponentProps<"div">, "title"> & VariantProps<typeof style> & { title?: ReactNode }) {
  const Icon = ICONS[tone ?? "busy"];
  return (
    <div className={cn(style({ tone }), className)} {...rest}>
      <Icon aria-hidden />
      <div className="min-w-0 flex-1">
        {title && <p className="font-semibold">{title}</p>}
        <div className="text-text [overflow-wrap:anywhere]">{children}</div>
      </div>
    </div>
  );
}

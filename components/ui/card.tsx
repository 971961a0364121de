import { type ComponentProps, type ReactNode, useId } from "react";
import { cn } from "./class-names";

export function Card({ className, ...rest }: ComponentProps<"section">) {
  return (
    <section
      className={cn("min-w-0 rounded-lg border border-line bg-surface shadow-card", className)}
      {...rest}
    />
  );
}

type Header = {
  icon?: ReactNode;
  title: ReactNode;
  /** Names the card when it is a region: `<Card aria-labelledby={id}>`. */
  id?: string;
  hint?: ReactNode;
  actions?: ReactNode;
};

/** A card's header: title with an icon, hint and actions. */
export function CardHeader({ icon, title, id, hint, actions }: Header) {
  return (
    <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line-soft px-4 py-1.5">
      <h2 id={id} dir="auto" className={cn("text-sm font-semibold", icon && "flex items-center gap-1.5")}>
        {icon}
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

type SectionProps = Header &
  Omit<ComponentProps<"section">, keyof Header> & {
    bodyClassName?: string;
    /** True if the content reaches the card's edges, like a table. */
    isFlush?: boolean;
  };

/** A card with a header and a body. It is a region (`section`) that is named by its title. */
export function Section({ icon, title, id, hint, actions, ...more }: SectionProps) {
  const { bodyClassName, isFlush, className, children, ...rest } = more;
  const own = useId();
  return (
    <Card aria-labelledby={id ?? own} className={cn(isFlush && "overflow-hidden", className)} {...rest}>
      <CardHeader icon={icon} title={title} id={id ?? own} hint={hint} actions={actions} />
      {isFlush ? children : <CardBody className={bodyClassName}>{children}</CardBody>}
    </Card>
  );
}

import type { ReactNode } from "react";

/** A page's name, one sentence on its purpose, and its main actions. */
export function PageHeader({
  title,
  children,
  actions,
}: {
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className="mb-5 flex flex-wrap items-start gap-x-4 gap-y-3">
      <div className="min-w-0 flex-1 basis-56">
        <h1 dir="auto" className="text-xl font-semibold">
          {title}
        </h1>
        {children && <div className="mt-0.5 text-base text-muted">{children}</div>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

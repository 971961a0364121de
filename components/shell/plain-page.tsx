import type { ReactNode } from "react";
import { Mark } from "@/components/brand/logo";
import { cn } from "@/components/ui/class-names";

/** A page without the panel's frame, such as sign-in. */
export function PlainPage({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <main id="main" className="grid min-h-dvh place-items-center px-4 py-10">
      <div className={cn("w-full min-w-0", wide ? "max-w-2xl" : "max-w-sm")}>{children}</div>
    </main>
  );
}

export function PlainTitle({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="mb-6 text-center">
      <Mark className="mx-auto mb-4 size-10 text-primary" />
      <h1 className="text-xl font-semibold">{title}</h1>
      {children && <p className="mt-1 text-base text-muted">{children}</p>}
    </header>
  );
}

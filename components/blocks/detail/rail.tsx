import { type ReactNode, useId } from "react";
import { Card } from "@/components/ui/card";

/** The column beside a page's main part, with the facts of its item in one card. */
export function Rail({ children }: { children: ReactNode }) {
  return <Card className="divide-y divide-line-soft">{children}</Card>;
}

type Props = { title: string; hint?: ReactNode; children: ReactNode };

export function RailSection({ title, hint, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="px-4 py-3.5">
      <header className="mb-2 flex min-h-6 flex-wrap items-center justify-between gap-2">
        <h2 id={id} className="text-sm font-semibold">
          {title}
        </h2>
        {hint}
      </header>
      {children}
    </section>
  );
}

import Link from "next/link";
import type { ReactNode } from "react";
import { Logo } from "@/components/brand/logo";
import { AccountMenu } from "@/components/shell/account-menu";
import { SkipLink } from "@/components/shell/panel-shell";
import { PanelData } from "@/components/trpc";
import { findPerson } from "@/server/auth/session";

/** The frame of what belongs to the installation and to no project. The page asks for the session itself. */
export default async function AttentionLayout({ children }: { children: ReactNode }) {
  const person = await findPerson();
  if (!person) return children;
  return (
    <PanelData>
      <SkipLink />
      <header className="sticky top-0 z-30 border-b border-line bg-canvas">
        <div className="mx-auto flex h-13 max-w-3xl items-center gap-4 px-4">
          <Link href="/" className="rounded-md" aria-label="Capstan, home">
            <Logo />
          </Link>
          <div className="ml-auto max-w-60">
            <AccountMenu email={person.email} isOperator={person.isOperator} />
          </div>
        </div>
      </header>
      {children}
    </PanelData>
  );
}

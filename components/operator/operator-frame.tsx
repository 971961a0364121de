import type { ReactNode } from "react";
import { Logo } from "@/components/brand/logo";
import { PanelData } from "@/components/data/panel-data";
import { Bell } from "@/components/notifications/bell";
import { AccountMenu } from "@/components/shell/account-menu";
import { SkipLink } from "@/components/shell/panel-shell";
import Link from "@/components/ui/link";
import { OperatorNav } from "./operator-nav";

/** The frame of operator pages, which belong to the installation and to no project. */
export function OperatorFrame({
  person,
  children,
}: {
  person: { email: string; isOperator: boolean };
  children: ReactNode;
}) {
  return (
    <PanelData>
      <SkipLink />
      <header className="sticky top-0 z-30 border-b border-line bg-canvas">
        <div className="mx-auto flex max-w-6xl flex-wrap items-center gap-x-5 px-4 sm:px-6">
          <Link href="/" className="my-2.5 rounded-md" aria-label="Capstan, home">
            <Logo />
          </Link>
          <OperatorNav />
          <div className="ml-auto flex min-w-0 max-w-[55vw] items-center gap-1 sm:max-w-72">
            <Bell />
            <AccountMenu email={person.email} isOperator={person.isOperator} />
          </div>
        </div>
      </header>
      {children}
    </PanelData>
  );
}

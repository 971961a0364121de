import Link from "next/link";
import type { ReactNode } from "react";
import { Logo } from "@/components/brand/logo";
import { Bell } from "@/components/notifications/bell";
import type { ProjectChoice } from "@/components/trpc";
import { Notice } from "@/components/ui/notice";
import { AccountMenu } from "./account-menu";
import { MobileNav } from "./mobile-nav";
import { PanelNav } from "./panel-nav";
import { ProjectSwitcher } from "./project-switcher";

/** The frame of every signed-in page: navigation on the left, the page on the right. */
export function PanelShell({
  person,
  projects,
  projectId,
  children,
}: {
  person: { email: string; isOperator: boolean };
  projects: ProjectChoice[];
  projectId: string;
  children: ReactNode;
}) {
  const isArchived = projects.find((each) => each.projectId === projectId)?.isArchived;
  const side = {
    switcher: <ProjectSwitcher projects={projects} current={projectId} />,
    account: <AccountMenu email={person.email} isOperator={person.isOperator} />,
  };
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <SkipLink />
      <header className="sticky top-0 z-30 flex h-13 items-center gap-2 border-b border-line bg-canvas px-3 lg:hidden">
        <MobileNav projectId={projectId} {...side} />
        <Home />
        <div className="ml-auto">
          <Bell />
        </div>
      </header>
      <aside
        aria-label="Sidebar"
        className="sticky top-0 hidden h-dvh flex-col gap-3 border-r border-line bg-sunken p-3 lg:flex"
      >
        <div className="flex h-9 items-center justify-between px-1">
          <Home />
          <Bell />
        </div>
        {side.switcher}
        <PanelNav projectId={projectId} />
        <div className="border-t border-line pt-2">{side.account}</div>
      </aside>
      <main id="main" tabIndex={-1} className="min-w-0 outline-none">
        <div className="mx-auto w-full max-w-6xl px-4 py-6 sm:px-6 lg:px-8 lg:py-8">
          {isArchived && (
            <Notice tone="warn" className="mb-4">
              This project is archived and read-only. An admin can restore it under{" "}
              <Link className="underline" href={`/projects/${projectId}/organization?view=projects`}>
                Organization → Projects
              </Link>
              .
            </Notice>
          )}
          {children}
        </div>
      </main>
    </div>
  );
}

export function SkipLink() {
  return (
    <a
      href="#main"
      className="sr-only z-50 rounded-md bg-primary px-3 py-2 text-sm font-medium text-on-primary focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
    >
      Skip to content
    </a>
  );
}

function Home() {
  return (
    <Link href="/" className="rounded-md" aria-label="Capstan, home">
      <Logo />
    </Link>
  );
}

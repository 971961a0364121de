import type { ReactNode } from "react";
import { Logo, Mark } from "@/components/brand/logo";
import type { ProjectChoice } from "@/components/data/trpc";
import { Bell } from "@/components/notifications/bell";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import { AccountMenu } from "./account-menu";
import { MobileNav } from "./mobile-nav";
import { ModeProvider } from "./mode";
import type { Mode } from "./mode-cookie";
import { PanelNav } from "./panel-nav";
import { ProjectSwitcher } from "./project-switcher";
import { Crumbs, PageMode } from "./top-bar";

/** The frame of the panel's pages except the operators': navigation on the left, the page on the right. */
export function PanelShell({
  person,
  projects,
  projectId,
  mode,
  children,
}: {
  person: { email: string; isOperator: boolean };
  projects: ProjectChoice[];
  projectId: string;
  mode: Mode;
  children: ReactNode;
}) {
  const project = projects.find((each) => each.projectId === projectId);
  const side = {
    switcher: <ProjectSwitcher projects={projects} current={projectId} />,
    account: <AccountMenu email={person.email} isOperator={person.isOperator} />,
  };
  return (
    <ModeProvider key={projectId} projectId={projectId} initial={mode}>
      <div className="min-h-dvh lg:grid lg:grid-cols-[14.5rem_minmax(0,1fr)]">
        <SkipLink />
        <aside
          aria-label="Sidebar"
          className="sticky top-0 hidden h-dvh flex-col gap-2 border-r border-line bg-sidebar px-3 pt-2 pb-2 lg:flex"
        >
          <div className="flex h-8 shrink-0 items-center px-1">
            <Home />
          </div>
          {side.switcher}
          <PanelNav projectId={projectId} />
          <div className="border-t border-line pt-2">{side.account}</div>
        </aside>
        <div className="min-w-0">
          <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-canvas px-3 sm:px-6 max-lg:h-13">
            <div className="flex items-center gap-1 lg:hidden">
              <MobileNav projectId={projectId} {...side} />
              <Home isShort />
            </div>
            <Crumbs projectId={projectId} project={project?.displayName ?? projectId} />
            <div className="ml-auto flex items-center gap-2">
              <PageMode />
              <Bell />
            </div>
          </header>
          <main id="main" tabIndex={-1} className="min-w-0 outline-none">
            <div className="mx-auto w-full max-w-[75.5rem] px-4 pt-5 pb-12 sm:px-6">
              {project?.isArchived && (
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
      </div>
    </ModeProvider>
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

function Home({ isShort = false }: { isShort?: boolean }) {
  return (
    <Link href="/" className="flex items-center rounded-md" aria-label="Capstan, home">
      {isShort ? <Mark className="text-primary" /> : <Logo />}
    </Link>
  );
}

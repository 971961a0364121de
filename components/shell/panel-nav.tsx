"use client";
import { BookOpen, type LucideIcon } from "lucide-react";
import { usePathname } from "next/navigation";
import { type ReactNode, useId } from "react";
import { WaitingCount } from "@/components/approvals/waiting-count";
import Link from "@/components/ui/link";
import { FOOT, PAGE_GROUPS, type PanelPage, pageHref } from "./pages";

const style =
  "flex h-7 shrink-0 items-center gap-2.5 rounded-md px-2 text-sm font-medium text-muted transition-colors hover:bg-hover hover:text-text aria-[current]:bg-selected aria-[current]:text-text max-lg:h-11 [&_svg]:size-4 [&_svg]:shrink-0 aria-[current]:[&_svg]:text-link";

/** Links to a project's pages in groups, its organization's billing and the API reference. */
export function PanelNav({ projectId, onNavigate }: { projectId: string; onNavigate?: () => void }) {
  const entry = (page: PanelPage) => (
    <li key={page.room}>
      <Entry href={pageHref(projectId, page)} icon={page.icon} onNavigate={onNavigate}>
        {page.label}
        {page.room === "approvals" && <WaitingCount projectId={projectId} />}
      </Entry>
    </li>
  );
  return (
    <nav aria-label="Panel" className="-mx-1 flex min-h-0 flex-1 flex-col overflow-y-auto px-1 pb-1">
      {PAGE_GROUPS.map(({ title, pages }) => (
        <Group key={title} title={title}>
          {pages.map(entry)}
        </Group>
      ))}
      <ul className="mt-auto pt-3.5">
        {FOOT.map(entry)}
        <li>
          <a href="/docs" className={style}>
            <BookOpen aria-hidden />
            API reference
          </a>
        </li>
      </ul>
    </nav>
  );
}

function Group({ title, children }: { title: string | null; children: ReactNode }) {
  const id = useId();
  if (!title) return <ul className="pt-1">{children}</ul>;
  return (
    <>
      <p id={id} className="shrink-0 px-2 pt-3.5 pb-1 text-2xs font-medium text-faint">
        {title}
      </p>
      <ul aria-labelledby={id}>{children}</ul>
    </>
  );
}

function Entry({
  href,
  icon: Icon,
  onNavigate,
  children,
}: {
  href: string;
  icon: LucideIcon;
  onNavigate: (() => void) | undefined;
  children: ReactNode;
}) {
  const pathname = usePathname();
  return (
    <Link
      href={href}
      onClick={onNavigate}
      aria-current={pathname === href ? "page" : pathname.startsWith(`${href}/`) ? "true" : undefined}
      className={style}
    >
      <Icon aria-hidden />
      {children}
    </Link>
  );
}

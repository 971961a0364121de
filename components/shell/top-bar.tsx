"use client";
import { usePathname } from "next/navigation";
import Link from "@/components/ui/link";
import { ModeSwitch } from "./mode";
import { panelPageAt } from "./pages";

/** The reader's location: the project, and the page, which is a link on the pages below it. */
export function Crumbs({ projectId, project }: { projectId: string; project: string }) {
  const pathname = usePathname();
  const page = panelPageAt(projectId, pathname);
  return (
    <nav aria-label="Breadcrumb" className="min-w-0 text-sm text-muted">
      <ol className="flex min-w-0 items-center gap-2">
        <li dir="auto" className="min-w-0 truncate max-lg:sr-only">
          {project}
        </li>
        {page && (
          <li className="flex min-w-0 items-center gap-2">
            <span aria-hidden className="text-faint max-lg:hidden">
              /
            </span>
            {pathname === page.href ? (
              <span aria-current="page" className="truncate font-medium text-text">
                {page.label}
              </span>
            ) : (
              <Link
                href={page.href}
                prefetch={false}
                className="truncate rounded font-medium hover:text-text"
              >
                {page.label}
              </Link>
            )}
          </li>
        )}
      </ol>
    </nav>
  );
}

/** The mode switch, on pages that show money by mode. */
export function PageMode() {
  return panelPageAt(null, usePathname())?.hasMode ? <ModeSwitch /> : null;
}

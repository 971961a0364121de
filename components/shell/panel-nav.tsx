"use client";
import {
  Blend,
  BookOpen,
  Building2,
  ChartColumn,
  Columns2,
  FileCheck,
  Gauge,
  Inbox,
  KeyRound,
  Layers,
  LayoutGrid,
  Lightbulb,
  type LucideIcon,
  PanelsTopLeft,
  Pin,
  Plug,
  Settings2,
  Wallet,
  Webhook,
  Workflow,
} from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { WaitingCount } from "@/components/approvals/waiting-count";
import { cn } from "@/components/ui/class-names";

const ROOMS: { room: string; label: string; icon: LucideIcon }[] = [
  { room: "catalog", label: "Catalog", icon: LayoutGrid },
  { room: "jobs", label: "Jobs", icon: Workflow },
  { room: "comparisons", label: "Comparisons", icon: Columns2 },
  { room: "pinned", label: "Pinned records", icon: Pin },
  { room: "bulks", label: "Bulks", icon: Layers },
  { room: "adapters", label: "Adapters", icon: Blend },
  { room: "provenance", label: "Provenance", icon: FileCheck },
  { room: "requests", label: "Requests", icon: Lightbulb },
  { room: "approvals", label: "Approvals", icon: Inbox },
  { room: "usage", label: "Usage", icon: ChartColumn },
  { room: "budgets", label: "Budgets", icon: Gauge },
  { room: "connections", label: "Connections", icon: Plug },
  { room: "keys", label: "API keys", icon: KeyRound },
  { room: "webhooks", label: "Webhooks", icon: Webhook },
  { room: "panels", label: "Embeds", icon: PanelsTopLeft },
  { room: "settings", label: "Settings", icon: Settings2 },
  { room: "organization", label: "Organization", icon: Building2 },
];

const style =
  "flex h-8 items-center gap-2.5 rounded-md px-2 text-sm font-medium text-muted hover:bg-hover hover:text-text aria-[current]:bg-hover aria-[current]:text-text [&_svg]:size-4 [&_svg]:shrink-0";

/** Links to a project's pages, its organization's billing and the API reference. */
export function PanelNav({ projectId, onNavigate }: { projectId: string; onNavigate?: () => void }) {
  const pathname = usePathname();
  return (
    <nav aria-label="Panel" className="-m-1 flex min-h-0 flex-1 flex-col gap-0.5 overflow-y-auto p-1">
      {ROOMS.map(({ room, label, icon: Icon }) => {
        const href = `/projects/${projectId}/${room}`;
        const current = pathname === href ? "page" : pathname.startsWith(`${href}/`) ? "true" : undefined;
        return (
          <Link key={room} href={href} aria-current={current} className={style} onClick={onNavigate}>
            <Icon aria-hidden className={cn(current && "text-link")} />
            {label}
            {room === "approvals" && <WaitingCount projectId={projectId} />}
          </Link>
        );
      })}
      <Link
        href="/billing"
        aria-current={pathname === "/billing" ? "page" : undefined}
        className={style}
        onClick={onNavigate}
      >
        <Wallet aria-hidden className={cn(pathname === "/billing" && "text-link")} />
        Billing
      </Link>
      <a href="/docs" className={cn(style, "mt-auto")}>
        <BookOpen aria-hidden />
        API reference
      </a>
    </nav>
  );
}

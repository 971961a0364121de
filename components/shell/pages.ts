import {
  Blend,
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

export type PanelPage = {
  /** The last segment of its path. */
  room: string;
  label: string;
  icon: LucideIcon;
  /** True if it shows live or test money, by the header's switch. */
  hasMode?: true;
  /** True if it belongs to the organization and has no project in its path. */
  isShared?: true;
};

/** The pages of a project as the sidebar groups them. */
export const PAGE_GROUPS: { title: string | null; pages: PanelPage[] }[] = [
  { title: null, pages: [{ room: "approvals", label: "Approvals", icon: Inbox }] },
  {
    title: "Run",
    pages: [
      { room: "catalog", label: "Catalog", icon: LayoutGrid },
      { room: "jobs", label: "Jobs", icon: Workflow },
      { room: "comparisons", label: "Comparisons", icon: Columns2 },
      { room: "pinned", label: "Pinned records", icon: Pin },
      { room: "bulks", label: "Bulks", icon: Layers },
    ],
  },
  {
    title: "Assets and proof",
    pages: [
      { room: "adapters", label: "Adapters", icon: Blend },
      { room: "provenance", label: "Provenance", icon: FileCheck },
      { room: "requests", label: "Requests", icon: Lightbulb },
    ],
  },
  {
    title: "Money",
    pages: [
      { room: "usage", label: "Usage", icon: ChartColumn, hasMode: true },
      { room: "budgets", label: "Budgets", icon: Gauge, hasMode: true },
      { room: "billing", label: "Billing", icon: Wallet, hasMode: true, isShared: true },
    ],
  },
  {
    title: "Build",
    pages: [
      { room: "keys", label: "API keys", icon: KeyRound },
      { room: "webhooks", label: "Webhooks", icon: Webhook },
      { room: "connections", label: "Connections", icon: Plug },
      { room: "panels", label: "Embeds", icon: PanelsTopLeft },
    ],
  },
];

/** The pages below the groups. */
export const FOOT: PanelPage[] = [
  { room: "settings", label: "Settings", icon: Settings2 },
  { room: "organization", label: "Organization", icon: Building2 },
];

export const pageHref = (projectId: string, { room, isShared }: PanelPage) =>
  isShared ? `/${room}` : `/projects/${projectId}/${room}`;

const ALL = [...PAGE_GROUPS.flatMap(({ pages }) => pages), ...FOOT];

/** The page of a path or of a path below it; undefined for a person's own pages. */
export function panelPageAt(
  projectId: string | null,
  pathname: string,
): (PanelPage & { href: string }) | undefined {
  const [, first, id = "", room] = pathname.split("/");
  const page = ALL.find((each) =>
    each.isShared ? each.room === first : first === "projects" && each.room === room,
  );
  return page && { ...page, href: pageHref(projectId ?? id, page) };
}

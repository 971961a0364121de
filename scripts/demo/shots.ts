import type { Page } from "@playwright/test";

export type Shot = {
  /** Name of the file, without its extension. */
  name: string;
  path: string;
  /** The person who looks; null if no one is signed in. */
  as: "owner" | "operator" | null;
  /** Opens the dialog of the picture once the page is there; the picture then has the window's height. */
  act?(page: Page): Promise<void>;
};

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole("main").getByRole("button", { name }).first().click();

/** Every page of the panel for the demo's project, and its main dialogs. */
export function shots({ projectId, places }: { projectId: string; places: Record<string, string> }): Shot[] {
  const owner = (name: string, path: string, act?: Shot["act"]): Shot => ({
    name,
    path,
    as: "owner",
    ...(act && { act }),
  });
  const at = (name: string, room: string, act?: Shot["act"]) =>
    owner(name, `/projects/${projectId}/${room}`, act);
  const of = (name: string, room: string, thing: string, act?: Shot["act"]): Shot[] =>
    places[thing] ? [at(name, `${room}/${places[thing]}`, act)] : [];
  const job = (thing: string) => of(`job-${thing.replace("Job", "")}`, "jobs", thing);
  return [
    { name: "sign-in", path: "/sign-in", as: null },
    { name: "device", path: "/device", as: "owner" },
    { name: "docs", path: "/docs", as: null },
    { name: "docs-page", path: "/docs/reference/errors", as: null },
    at("catalog", "catalog"),
    at("capability-text", "catalog/text.general.fast.v1"),
    at("capability-image", "catalog/image.generate.v1"),
    at("jobs", "jobs"),
    at("jobs-none", "jobs?tag=nothing-has-this-tag"),
    ...[
      "textJob",
      "imageJob",
      "videoJob",
      "meshJob",
      "audioJob",
      "failedJob",
      "lostJob",
      "canceledJob",
      "waitingJob",
    ].flatMap(job),
    ...["attentionJob", "runningJob"].flatMap(job),
    ...of("receipt", "receipts", "receipt"),
    at("approvals", "approvals"),
    at("comparisons", "comparisons"),
    at("comparison-new", "comparisons/new"),
    ...of("comparison-open", "comparisons", "openComparison"),
    ...of("comparison-judged", "comparisons", "judgedComparison"),
    at("pinned", "pinned"),
    at("pinned-new", "pinned/new"),
    ...of("pinned-record", "pinned", "pinnedRecord"),
    at("bulks", "bulks"),
    ...of("bulk", "bulks", "bulk"),
    at("adapters", "adapters"),
    at("adapter-new", "adapters/new"),
    ...of("adapter", "adapters", "adapter"),
    at("adapter-defaults", "adapters/defaults"),
    at("aliases", "adapters/aliases"),
    at("alias", "adapters/aliases/house-style"),
    at("provenance", "provenance"),
    at("lockfile", "provenance/lockfile"),
    ...of("manifest", "provenance", "manifest"),
    at("requests", "requests"),
    at("request-new", "requests/new"),
    ...of("request-quoted", "requests", "quotedRequest"),
    ...of("request-unclear", "requests", "unclearRequest"),
    at("usage", "usage"),
    at("budgets", "budgets"),
    at("budget-dialog", "budgets", press("Set budget")),
    owner("billing", "/billing"),
    at("keys", "keys"),
    at("key-dialog", "keys", press("Create key")),
    at("key-empty-submit", "keys", async (page) => {
      await press("Create key")(page);
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    }),
    at("webhooks", "webhooks"),
    at("endpoint-dialog", "webhooks", press(/Add/)),
    at("connections", "connections"),
    at("connection-dialog", "connections", press(/Connect/)),
    at("embeds", "panels"),
    at("settings", "settings"),
    at("organization", "organization"),
    at("organization-log", "organization?view=log"),
    at("organization-keys", "organization?view=keys"),
    owner("notifications", "/notifications"),
    owner("account", "/account"),
    owner("account-menu", `/projects/${projectId}/jobs`, (page) =>
      page.getByRole("button", { name: /^Account/ }).click(),
    ),
    owner("navigation", `/projects/${projectId}/jobs`, async (page) => {
      const open = page.getByRole("button", { name: "Open navigation" });
      if (await open.isVisible()) await open.click();
    }),
    at("project-not-found", "jobs/wfr_00000000000000000000000000"),
    { name: "operator-requests", path: "/operator/requests", as: "operator" },
    { name: "operator-plans", path: "/operator/plans", as: "operator" },
    { name: "operator-outbox", path: "/operator/outbox", as: "operator" },
    { name: "operator-attention", path: "/attention", as: "operator" },
  ];
}

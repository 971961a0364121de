import { accountRouter } from "./account";
import { adaptersRouter } from "./adapters";
import { approvalsRouter } from "./approvals";
import { attentionRouter } from "./attention";
import { billingRouter } from "./billing";
import { budgetsRouter } from "./budgets";
import { catalogRouter } from "./catalog";
import { comparisonsRouter } from "./comparisons";
import { connectionsRouter } from "./connections";
import { router } from "./init";
import { jobsRouter } from "./jobs";
import { keysRouter } from "./keys";
import { notificationsRouter } from "./notifications";
import { operatorRouter } from "./operator";
import { organizationsRouter } from "./organizations";
import { panelsRouter } from "./panels";
import { pinnedRouter } from "./pinned";
import { projectsRouter } from "./projects";
import { provenanceRouter } from "./provenance";
import { requestsRouter } from "./requests";
import { usageRouter } from "./usage";
import { webhooksRouter } from "./webhooks";

/** The panel's procedures, with the same schemas and verbs as the API. The browser imports only the router's type. */
export const appRouter = router({
  account: accountRouter,
  projects: projectsRouter,
  catalog: catalogRouter,
  jobs: jobsRouter,
  comparisons: comparisonsRouter,
  attention: attentionRouter,
  budgets: budgetsRouter,
  connections: connectionsRouter,
  keys: keysRouter,
  organizations: organizationsRouter,
  webhooks: webhooksRouter,
  panels: panelsRouter,
  billing: billingRouter,
  notifications: notificationsRouter,
  usage: usageRouter,
  pinned: pinnedRouter,
  provenance: provenanceRouter,
  requests: requestsRouter,
  operator: operatorRouter,
  approvals: approvalsRouter,
  adapters: adaptersRouter,
});
export type AppRouter = typeof appRouter;

import { router } from "./init";
import { accountRouter } from "./routers/account";
import { adaptersRouter } from "./routers/adapters";
import { approvalsRouter } from "./routers/approvals";
import { attentionRouter } from "./routers/attention";
import { billingRouter } from "./routers/billing";
import { budgetsRouter } from "./routers/budgets";
import { catalogRouter } from "./routers/catalog";
import { comparisonsRouter } from "./routers/comparisons";
import { connectionsRouter } from "./routers/connections";
import { embedsRouter } from "./routers/embeds";
import { jobsRouter } from "./routers/jobs";
import { keysRouter } from "./routers/keys";
import { notificationsRouter } from "./routers/notifications";
import { operatorRouter } from "./routers/operator";
import { organizationsRouter } from "./routers/organizations";
import { pinnedRouter } from "./routers/pinned";
import { projectsRouter } from "./routers/projects";
import { provenanceRouter } from "./routers/provenance";
import { requestsRouter } from "./routers/requests";
import { usageRouter } from "./routers/usage";
import { webhooksRouter } from "./routers/webhooks";

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
  embeds: embedsRouter,
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

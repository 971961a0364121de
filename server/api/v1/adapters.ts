import { endpoint } from "@/server/api/endpoint";
import {
  AdapterDeleted,
  AdapterRef,
  ListAdapters,
  ModelAdapter,
  ModelAdapterCreate,
  ModelAdapterPage,
} from "@/server/contract/adapters";
import { InProject } from "@/server/contract/inputs-stored";
import * as adapters from "@/server/domain/adapters";

const tags = ["Adapters"];
const auth = ["service_principal", "human_session"] as const;

export const registerAdapter = endpoint({
  method: "POST",
  path: "/v1/adapters",
  summary: "Register LoRA weights under a name",
  description:
    "`source` is an artifact of the project, a repository or a direct link, or a provider's own reference. A branch or tag is resolved to its commit once, now; no tensor is downloaded. A source that does not name one file at one commit stays catalog-only: `frozen` is false, and no execution takes it. Names are unique in an environment, compared without case.",
  tags,
  auth,
  scope: "adapters:write",
  query: InProject,
  body: ModelAdapterCreate,
  output: ModelAdapter,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query, body }) => adapters.register(ctx, query, body),
});

export const listAdapters = endpoint({
  method: "GET",
  path: "/v1/adapters",
  summary: "List the adapters of an environment, newest first",
  tags,
  auth,
  scope: "jobs:read",
  query: ListAdapters,
  output: ModelAdapterPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => adapters.list(ctx, query),
});

export const getAdapter = endpoint({
  method: "GET",
  path: "/v1/adapters/{adapter_id}",
  summary: "Read an adapter",
  tags,
  auth,
  scope: "jobs:read",
  params: AdapterRef,
  output: ModelAdapter,
  errors: ["NotFound"],
  run: (ctx, { params }) => adapters.get(ctx, params.adapter_id),
});

export const deleteAdapter = endpoint({
  method: "DELETE",
  path: "/v1/adapters/{adapter_id}",
  summary: "Delete an adapter that nothing uses",
  description:
    "AdapterInUse (409) while the current version of an alias, a default or a recipe binding uses it; `details.references` names them. Receipts of executions that used it keep what they say.",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterRef,
  output: AdapterDeleted,
  errors: ["NotFound", "AdapterInUse"],
  run: (ctx, { params }) => adapters.remove(ctx, params.adapter_id),
});

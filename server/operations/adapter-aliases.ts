import { endpoint } from "@/server/api/endpoint";
import {
  AdapterDefault,
  AdapterDefaultRef,
  AdapterDefaultSet,
  AdapterQuery,
  Alias,
  AliasCreate,
  AliasPage,
  AliasPromote,
  AliasRef,
  AliasVersionPage,
  ListAdapters,
  RecipeBinding,
  RecipeBindingRequest,
} from "@/server/contract/adapters";
import { InProject } from "@/server/contract/inputs-stored";
import * as adapters from "@/server/domain/adapters";

const tags = ["Adapters"];
const auth = ["service_principal", "human_session"] as const;

export const createAlias = endpoint({
  method: "POST",
  path: "/v1/adapter-aliases",
  summary: "Create an adapter alias",
  description:
    "The alias is a stable name; its version 1 points to the given adapter and weight. Names are unique within an environment, ignoring case.",
  tags,
  auth,
  scope: "adapters:write",
  query: InProject,
  body: AliasCreate,
  output: Alias,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query, body }) => adapters.createAlias(ctx, query, body),
});

export const listAliases = endpoint({
  method: "GET",
  path: "/v1/adapter-aliases",
  summary: "List adapter aliases, newest first",
  tags,
  auth,
  scope: "jobs:read",
  query: ListAdapters,
  output: AliasPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => adapters.listAliases(ctx, query),
});

export const getAlias = endpoint({
  method: "GET",
  path: "/v1/adapter-aliases/{alias_name}",
  summary: "Retrieve an adapter alias",
  tags,
  auth,
  scope: "jobs:read",
  params: AliasRef,
  query: AdapterQuery,
  output: Alias,
  errors: ["NotFound", "PROJECT_REQUIRED"],
  run: (ctx, { params, query }) => adapters.getAlias(ctx, params.alias_name, query),
});

export const listAliasVersions = endpoint({
  method: "GET",
  path: "/v1/adapter-aliases/{alias_name}/versions",
  summary: "List the versions of an adapter alias, newest first",
  tags,
  auth,
  scope: "jobs:read",
  params: AliasRef,
  query: ListAdapters,
  output: AliasVersionPage,
  errors: ["NotFound", "PROJECT_REQUIRED"],
  run: (ctx, { params, query }) => adapters.aliasVersions(ctx, params.alias_name, query),
});

export const promoteAlias = endpoint({
  method: "POST",
  path: "/v1/adapter-aliases/{alias_name}/promotions",
  summary: "Point an alias to another adapter or weight",
  description:
    "Adds a version and keeps the earlier ones. Version numbers are consecutive, even when promotions run concurrently. If the alias already points to this adapter and weight, it is returned without a new version.",
  tags,
  auth,
  scope: "adapters:write",
  params: AliasRef,
  query: AdapterQuery,
  body: AliasPromote,
  output: Alias,
  errors: ["NotFound", "PROJECT_REQUIRED"],
  run: (ctx, { params, query, body }) => adapters.promote(ctx, params.alias_name, query, body),
});

export const bindRecipe = endpoint({
  method: "POST",
  path: "/v1/adapter-aliases/{alias_name}/recipe-binding",
  summary: "Bind the project's recipe to one version of an alias",
  description:
    "While the alias is the project's default, executions that name no adapters use this version, even after later promotions. The version defaults to the current one. A request that names the alias always uses its current version.",
  tags,
  auth,
  scope: "adapters:write",
  params: AliasRef,
  query: AdapterQuery,
  body: RecipeBindingRequest,
  output: RecipeBinding,
  errors: ["NotFound", "PROJECT_REQUIRED"],
  run: (ctx, { params, query, body }) => adapters.bindRecipe(ctx, params.alias_name, query, body),
});

export const getAdapterDefault = endpoint({
  method: "GET",
  path: "/v1/adapter-defaults/{capability_key}",
  summary: "Retrieve a capability's default alias, used when a request names no adapters",
  tags,
  auth,
  scope: "jobs:read",
  params: AdapterDefaultRef,
  query: AdapterQuery,
  output: AdapterDefault,
  errors: ["UNKNOWN_CAPABILITY", "PROJECT_REQUIRED"],
  run: (ctx, { params, query }) => adapters.getDefault(ctx, params.capability_key, query),
});

export const setAdapterDefault = endpoint({
  method: "PUT",
  path: "/v1/adapter-defaults/{capability_key}",
  summary: "Set a capability's default alias",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterDefaultRef,
  query: AdapterQuery,
  body: AdapterDefaultSet,
  output: AdapterDefault,
  errors: ["UNKNOWN_CAPABILITY", "PROJECT_REQUIRED"],
  run: (ctx, { params, query, body }) => adapters.setDefault(ctx, params.capability_key, query, body),
});

export const clearAdapterDefault = endpoint({
  method: "DELETE",
  path: "/v1/adapter-defaults/{capability_key}",
  summary: "Clear a capability's default alias",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterDefaultRef,
  query: AdapterQuery,
  output: AdapterDefault,
  errors: ["UNKNOWN_CAPABILITY", "PROJECT_REQUIRED"],
  run: (ctx, { params, query }) => adapters.clearDefault(ctx, params.capability_key, query),
});

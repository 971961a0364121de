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
  summary: "Give an adapter a stable name",
  description:
    "The alias stands for the adapter and weight named, as its version 1. Names are unique in an environment, compared without case.",
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
  summary: "List the aliases of an environment, newest first",
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
  summary: "Read what an alias stands for",
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
  summary: "List what an alias stood for, newest first",
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
  summary: "Have an alias stand for another adapter or weight",
  description:
    "Adds a version; those before it stay to be read. Numbers are consecutive, also of promotions at once. What the alias stands for already is answered without a new version.",
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
  summary: "Have the project's recipe keep to one version of an alias",
  description:
    "Where the alias is the project's default, executions that name no adapters use this version, whatever is promoted meanwhile; by default the current one. Naming the alias in a request means its current version.",
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
  summary: "Read the alias a capability uses where a request names no adapters",
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
  summary: "Set it",
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
  summary: "Clear it",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterDefaultRef,
  query: AdapterQuery,
  output: AdapterDefault,
  errors: ["UNKNOWN_CAPABILITY", "PROJECT_REQUIRED"],
  run: (ctx, { params, query }) => adapters.clearDefault(ctx, params.capability_key, query),
});

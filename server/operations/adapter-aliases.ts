import {
  AdapterDefault,
  AdapterDefaultSet,
  AdapterQuery,
  Alias,
  AliasCreate,
  AliasPage,
  AliasPromote,
  AliasVersionPage,
  ListAdapters,
  RecipeBinding,
  RecipeBindingRequest,
} from "@/server/contract/adapters";
import { InProject } from "@/server/contract/common";
import * as adapters from "@/server/domain/adapters";
import { byKeysAndPeople, operations } from "./define";

const write = operations("Adapters", byKeysAndPeople("adapters:write"));
const read = operations("Adapters", byKeysAndPeople("jobs:read"));

export const createAlias = write.post("/v1/adapter-aliases", {
  summary: "Create an adapter alias",
  description:
    "The alias is a stable name; its version 1 points to the given adapter and weight. Names are unique within an environment, ignoring case.",
  query: InProject,
  body: AliasCreate,
  example: { alias: "house-style", target: { adapterId: "adp_01jd0000000000000000000000", weight: 0.8 } },
  output: Alias,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query, body }) => adapters.createAlias(ctx, query, body),
});

export const listAliases = read.get("/v1/adapter-aliases", {
  summary: "List adapter aliases, newest first",
  query: ListAdapters,
  output: AliasPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => adapters.listAliases(ctx, query),
});

export const getAlias = read.get("/v1/adapter-aliases/{alias_name}", {
  summary: "Retrieve an adapter alias",
  query: AdapterQuery,
  output: Alias,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { alias_name, query }) => adapters.getAlias(ctx, alias_name, query),
});

export const listAliasVersions = read.get("/v1/adapter-aliases/{alias_name}/versions", {
  summary: "List the versions of an adapter alias, newest first",
  query: ListAdapters,
  output: AliasVersionPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { alias_name, query }) => adapters.aliasVersions(ctx, alias_name, query),
});

export const promoteAlias = write.post("/v1/adapter-aliases/{alias_name}/promotions", {
  summary: "Point an alias to another adapter or weight",
  description:
    "Adds a version and keeps the earlier ones. Version numbers are consecutive, even when promotions run concurrently. If the alias already points to this adapter and weight, it is returned without a new version.",
  query: AdapterQuery,
  body: AliasPromote,
  example: { target: { adapterId: "adp_01jd0000000000000000000000", weight: 0.8 } },
  output: Alias,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { alias_name, query, body }) => adapters.promote(ctx, alias_name, query, body),
});

export const bindRecipe = write.post("/v1/adapter-aliases/{alias_name}/recipe-binding", {
  summary: "Bind the project's recipe to one version of an alias",
  description:
    "While the alias is the project's default, executions that name no adapters use this version, even after later promotions. The version defaults to the current one. A request that names the alias always uses its current version.",
  query: AdapterQuery,
  body: RecipeBindingRequest,
  example: { versionId: "aliv_01jd0000000000000000000000" },
  output: RecipeBinding,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { alias_name, query, body }) => adapters.bindRecipe(ctx, alias_name, query, body),
});

export const getAdapterDefault = read.get("/v1/adapter-defaults/{capability_key}", {
  summary: "Retrieve a capability's default alias, used when a request names no adapters",
  query: AdapterQuery,
  output: AdapterDefault,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { capability_key, query }) => adapters.getDefault(ctx, capability_key, query),
});

export const setAdapterDefault = write.put("/v1/adapter-defaults/{capability_key}", {
  summary: "Set a capability's default alias",
  query: AdapterQuery,
  body: AdapterDefaultSet,
  example: { alias: "house-style" },
  output: AdapterDefault,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { capability_key, query, body }) => adapters.setDefault(ctx, capability_key, query, body),
});

export const clearAdapterDefault = write.delete("/v1/adapter-defaults/{capability_key}", {
  summary: "Clear a capability's default alias",
  query: AdapterQuery,
  output: AdapterDefault,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { capability_key, query }) => adapters.clearDefault(ctx, capability_key, query),
});

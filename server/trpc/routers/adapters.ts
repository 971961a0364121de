import { z } from "zod";
import { SAFETENSORS_LIMITS } from "@/server/compute/safetensors";
import {
  AdapterDefault,
  AdapterQuery,
  AdapterRef,
  AdapterUse,
  AliasesShown,
  AliasHistory,
  AliasRef,
  AliasShown,
  ListAdapters,
} from "@/server/contract/adapters";
import { FAMILIES } from "@/server/contract/model-families";
import * as adapters from "@/server/domain/adapters";
import * as aliases from "@/server/operations/adapter-aliases";
import * as api from "@/server/operations/adapters";
import { router } from "../init";
import { mutation, Nothing, query, reads } from "../of";

const ofProject = { needs: ["projectId"] } as const;
/** The project and its environment. */
const Place = AdapterQuery.required({ projectId: true });
const Listed = ListAdapters.required({ projectId: true });

/** The choices and limits of the forms for adapters. */
const Choices = z.object({
  families: z.array(z.object({ name: z.string(), title: z.string() })),
  /** Providers that support adapters. */
  providers: z.array(z.string()),
  capabilities: z.array(z.object({ key: z.string(), title: z.string() })),
  limits: z.object({ fileBytes: z.int(), headerBytes: z.int() }),
});

export const adaptersRouter = router({
  choices: reads(Nothing, Choices, () => ({
    families: [...FAMILIES],
    providers: adapters.adapterProviders(),
    capabilities: adapters.takers(),
    limits: { fileBytes: adapters.mostUploadBytes(), headerBytes: SAFETENSORS_LIMITS.headerBytes },
  })),
  list: query(api.listAdapters, ofProject),
  get: query(api.getAdapter),
  /** The models that support the adapter. */
  uses: reads(AdapterRef, z.array(AdapterUse), (ctx, input) => adapters.usesOf(ctx, input.adapter_id)),
  register: mutation(api.registerAdapter, ofProject),
  revalidate: mutation(api.revalidateAdapter),
  remove: mutation(api.deleteAdapter),
  /** Looks up the file of a link, which takes a while. */
  preview: mutation(api.previewAdapterSource, ofProject),
  suggest: mutation(api.suggestAdapter, ofProject),
  accept: mutation(api.acceptAdapter, ofProject),
  aliases: reads(Listed, AliasesShown, adapters.showAliases),
  alias: reads(Place.extend(AliasRef.shape), AliasShown, (ctx, { alias_name, ...place }) =>
    adapters.showAlias(ctx, alias_name, place),
  ),
  history: reads(Listed.extend(AliasRef.shape), AliasHistory, (ctx, { alias_name, ...page }) =>
    adapters.aliasHistory(ctx, alias_name, page),
  ),
  createAlias: mutation(aliases.createAlias, ofProject),
  promote: mutation(aliases.promoteAlias, ofProject),
  bind: mutation(aliases.bindRecipe, ofProject),
  /** The default adapter of each capability that accepts adapters. */
  defaults: reads(Place, z.array(AdapterDefault.extend({ title: z.string() })), (ctx, input) =>
    Promise.all(
      adapters
        .takers()
        .map(async ({ key, title }) => ({ ...(await adapters.getDefault(ctx, key, input)), title })),
    ),
  ),
  setDefault: mutation(aliases.setAdapterDefault, ofProject),
  clearDefault: mutation(aliases.clearAdapterDefault, ofProject),
});

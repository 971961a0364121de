import { z } from "zod";
import { LIMITS } from "@/server/compute/safetensors";
import {
  AcceptRequest,
  AdapterDefault,
  AdapterDefaultRef,
  AdapterDefaultSet,
  AdapterDeleted,
  AdapterQuery,
  AdapterRef,
  AdapterUse,
  Alias,
  AliasCreate,
  AliasesShown,
  AliasHistory,
  AliasPromote,
  AliasRef,
  AliasShown,
  ListAdapters,
  ListModelAdapters,
  ModelAdapter,
  ModelAdapterCreate,
  ModelAdapterPage,
  RecipeBinding,
  RecipeBindingRequest,
  SourcePreview,
  SourcePreviewRequest,
  Suggestion,
} from "@/server/contract/adapters";
import { ProjectRef } from "@/server/contract/jobs";
import * as adapters from "@/server/domain/adapters";
import { FAMILIES } from "@/server/model-families";
import { human, router } from "./init";

/** The project and its environment. */
const Place = AdapterQuery.omit({ projectId: true }).extend(ProjectRef.shape);
type Place = z.output<typeof Place>;
const Named = Place.extend(AliasRef.shape);
const Taker = Place.extend(AdapterDefaultRef.shape);

const inPlace = ({ project_id: projectId, environment }: Place) => ({ projectId, environment });

/** The possible kinds of adapters, for the forms. */
const Choices = z.object({
  families: z.array(z.object({ name: z.string(), title: z.string() })),
  /** Providers that support adapters. */
  providers: z.array(z.string()),
  capabilities: z.array(z.object({ key: z.string(), title: z.string() })),
  limits: z.object({ fileBytes: z.int(), headerBytes: z.int() }),
});

export const adaptersRouter = router({
  choices: human.output(Choices).query(() => ({
    families: [...FAMILIES],
    providers: adapters.adapterProviders(),
    capabilities: adapters.takers(),
    limits: { fileBytes: adapters.mostUploadBytes(), headerBytes: LIMITS.headerBytes },
  })),
  list: human
    .input(ListModelAdapters.omit({ projectId: true }).extend(ProjectRef.shape))
    .output(ModelAdapterPage)
    .query(({ ctx, input: { project_id, ...query } }) =>
      adapters.list(ctx, { ...query, projectId: project_id }),
    ),
  get: human
    .input(AdapterRef)
    .output(ModelAdapter)
    .query(({ ctx, input }) => adapters.get(ctx, input.adapter_id)),
  /** The models that support the adapter. */
  uses: human
    .input(AdapterRef)
    .output(z.array(AdapterUse))
    .query(({ ctx, input }) => adapters.usesOf(ctx, input.adapter_id)),
  register: human
    .input(ModelAdapterCreate.extend(ProjectRef.shape))
    .output(ModelAdapter)
    .mutation(({ ctx, input: { project_id: projectId, ...body } }) =>
      adapters.register(ctx, { projectId }, body),
    ),
  revalidate: human
    .input(AdapterRef)
    .output(ModelAdapter)
    .mutation(({ ctx, input }) => adapters.revalidate(ctx, input.adapter_id)),
  remove: human
    .input(AdapterRef)
    .output(AdapterDeleted)
    .mutation(({ ctx, input }) => adapters.remove(ctx, input.adapter_id)),
  /** Looks up the file of a link, which takes a while. */
  preview: human
    .input(SourcePreviewRequest.extend(ProjectRef.shape))
    .output(SourcePreview)
    .mutation(({ ctx, input: { project_id: projectId, ...body } }) =>
      adapters.previewSource(ctx, { projectId }, body),
    ),
  suggest: human
    .input(SourcePreviewRequest.extend(Place.shape))
    .output(Suggestion)
    .mutation(({ ctx, input }) => adapters.suggest(ctx, inPlace(input), { query: input.query })),
  accept: human
    .input(AcceptRequest.extend(Place.shape))
    .output(Suggestion)
    .mutation(({ ctx, input: { project_id: projectId, environment, ...body } }) =>
      adapters.accept(ctx, { projectId, environment }, body),
    ),
  aliases: human
    .input(ListAdapters.omit({ projectId: true }).extend(ProjectRef.shape))
    .output(AliasesShown)
    .query(({ ctx, input: { project_id, ...query } }) =>
      adapters.showAliases(ctx, { ...query, projectId: project_id }),
    ),
  alias: human
    .input(Named)
    .output(AliasShown)
    .query(({ ctx, input }) => adapters.showAlias(ctx, input.alias_name, inPlace(input))),
  history: human
    .input(ListAdapters.omit({ projectId: true }).extend({ ...ProjectRef.shape, ...AliasRef.shape }))
    .output(AliasHistory)
    .query(({ ctx, input: { project_id, alias_name, ...query } }) =>
      adapters.aliasHistory(ctx, alias_name, { ...query, projectId: project_id }),
    ),
  createAlias: human
    .input(AliasCreate.extend(ProjectRef.shape))
    .output(Alias)
    .mutation(({ ctx, input: { project_id: projectId, ...body } }) =>
      adapters.createAlias(ctx, { projectId }, body),
    ),
  promote: human
    .input(AliasPromote.extend(Named.shape))
    .output(Alias)
    .mutation(({ ctx, input }) =>
      adapters.promote(ctx, input.alias_name, inPlace(input), { target: input.target }),
    ),
  bind: human
    .input(RecipeBindingRequest.extend(Named.shape))
    .output(RecipeBinding)
    .mutation(({ ctx, input }) =>
      adapters.bindRecipe(ctx, input.alias_name, inPlace(input), { versionId: input.versionId }),
    ),
  /** The default adapters of each capability that accepts adapters. */
  defaults: human
    .input(Place)
    .output(z.array(AdapterDefault.extend({ title: z.string() })))
    .query(({ ctx, input }) =>
      Promise.all(
        adapters.takers().map(async ({ key, title }) => ({
          ...(await adapters.getDefault(ctx, key, inPlace(input))),
          title,
        })),
      ),
    ),
  setDefault: human
    .input(AdapterDefaultSet.extend(Taker.shape))
    .output(AdapterDefault)
    .mutation(({ ctx, input }) =>
      adapters.setDefault(ctx, input.capability_key, inPlace(input), { alias: input.alias }),
    ),
  clearDefault: human
    .input(Taker)
    .output(AdapterDefault)
    .mutation(({ ctx, input }) => adapters.clearDefault(ctx, input.capability_key, inPlace(input))),
});

import {
  AcceptRequest,
  AdapterDeleted,
  AdapterFamilies,
  AdapterQuery,
  ListModelAdapters,
  ModelAdapter,
  ModelAdapterChange,
  ModelAdapterCreate,
  ModelAdapterPage,
  ModelAdapterUpload,
  SourcePreview,
  SourcePreviewRequest,
  Suggestion,
  SuggestionRequest,
} from "@/server/contract/adapters";
import { InProject } from "@/server/contract/common";
import * as adapters from "@/server/domain/adapters";
import { byKeysAndPeople, operations } from "./define";

const write = operations("Adapters", byKeysAndPeople("adapters:write"));
const read = operations("Adapters", byKeysAndPeople("jobs:read"));

export const registerAdapter = write.post("/v1/adapters", {
  summary: "Register an adapter (LoRA weights)",
  description:
    "`source` is an artifact of the project, a repository, a direct link or a provider's own reference. A branch or tag is resolved to its commit once, at registration; no tensor is downloaded. A source that does not identify one file at one commit is catalog-only: `frozen` is false and executions reject it. Names are unique within an environment, ignoring case.",
  query: InProject,
  body: ModelAdapterCreate,
  example: {
    displayName: "House style",
    baseModelFamily: "flux",
    source: { kind: "huggingface", ref: "example/lighthouse-lora" },
  },
  output: ModelAdapter,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.register(ctx, query, body),
});

export const uploadAdapter = write.post("/v1/adapters/upload", {
  summary: "Upload an adapter (LoRA weights)",
  description:
    "Send a safetensors file (at most 2 GiB, unless the installation sets a lower limit) in the field `file`, and text in the other fields. Fields that come before the file are validated before the file is read. The file is validated while it streams: a 422 at `file` names the rule it breaks. Family, trigger words, weight and license are read from the file when the fields omit them. Returns one frozen adapter of kind `service_artifact`. Costs nothing; a rejected upload stores nothing.",
  query: InProject,
  form: ModelAdapterUpload,
  output: ModelAdapter,
  errors: ["PROJECT_REQUIRED"],
  http: (ctx, { query, incoming }) => {
    incoming.body?.allow?.(adapters.MOST_UPLOAD_MS);
    return adapters.upload(ctx, query, {
      contentType: incoming.header("content-type"),
      contentLength: incoming.header("content-length"),
      bytes: incoming.body,
    });
  },
});

export const listAdapters = read.get("/v1/adapters", {
  summary: "List adapters, newest first",
  description: "Filter with `q`, `baseModelFamily` and `health`. A family can be given by any of its names.",
  query: ListModelAdapters,
  output: ModelAdapterPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => adapters.list(ctx, query),
});

export const getAdapter = read.get("/v1/adapters/{adapter_id}", {
  summary: "Retrieve an adapter",
  output: ModelAdapter,
  run: (ctx, { adapter_id }) => adapters.get(ctx, adapter_id),
});

export const listAdapterFamilies = read.get("/v1/adapters/families", {
  summary: "List base model families, and the models that take adapters of each",
  output: AdapterFamilies,
  run: async () => ({ items: adapters.families() }),
});

export const changeAdapter = write.patch("/v1/adapters/{adapter_id}", {
  summary: "Change the description of an adapter",
  description:
    "Fields that are left out stay, and null removes one. The source never changes: register other weights as another adapter. Executions that were admitted keep the description of their moment.",
  body: ModelAdapterChange,
  example: { baseModelFamily: "flux", recommendedWeight: 0.8 },
  output: ModelAdapter,
  run: (ctx, { adapter_id, body }) => adapters.change(ctx, adapter_id, body),
});

export const deleteAdapter = write.delete("/v1/adapters/{adapter_id}", {
  summary: "Delete an unused adapter",
  description:
    "Returns 409 AdapterInUse while the current version of an alias, a default or a recipe binding uses the adapter; `details.references` lists them. Existing receipts do not change.",
  output: AdapterDeleted,
  errors: ["AdapterInUse"],
  run: (ctx, { adapter_id }) => adapters.remove(ctx, adapter_id),
});

export const previewAdapterSource = write.post("/v1/adapters/source-preview", {
  summary: "Preview public LoRA weights before registering them",
  description:
    "`query` is `owner/name` on the Hugging Face Hub, a Hub URL, or a direct link to a supported host. Proposes commit, file, base model family, name, weight, trigger words and license. If several files are plausible, none is selected. Registers nothing, reads no tensor and costs nothing.",
  query: InProject,
  body: SourcePreviewRequest,
  example: { query: "example/lighthouse-lora" },
  output: SourcePreview,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.previewSource(ctx, query, body),
});

export const suggestAdapter = write.post("/v1/adapters/suggestions", {
  summary: "Resolve a name or link to an adapter",
  description:
    "For an alias, an adapter id or a display name, returns a `patch` to merge into the input of image.generate.v1. If several display names contain the text, returns a `choice`. For a public link, returns a `suggestion` with its preview. Changes nothing.",
  query: AdapterQuery,
  body: SuggestionRequest,
  example: { query: "house-style" },
  output: Suggestion,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.suggest(ctx, query, body),
});

export const acceptAdapter = write.post("/v1/adapters/suggestions/accept", {
  summary: "Accept a suggested adapter",
  description:
    "Returns `used` for an adapter that is already registered in the environment, and `registered` for a public source, which is registered at its current commit. If the source has several files or no known family, the suggestion is returned again: name them with `filePath` and `baseModelFamily`. A source that is already registered is used as it is, unless `refresh` requests its newest commit; the same commit and file are the same adapter.",
  query: AdapterQuery,
  body: AcceptRequest,
  example: { query: "example/lighthouse-lora", filePath: "lighthouse.safetensors" },
  output: Suggestion,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.accept(ctx, query, body),
});

export const revalidateAdapter = write.post("/v1/adapters/{adapter_id}/revalidate", {
  summary: "Check that an adapter's weights are still available",
  description:
    "Updates `sourceHealth` only. Never follows a branch or tag, and changes neither the adapter nor any alias.",
  output: ModelAdapter,
  run: (ctx, { adapter_id }) => adapters.revalidate(ctx, adapter_id),
});

import { endpoint } from "@/server/api/endpoint";
import {
  AcceptRequest,
  AdapterDeleted,
  AdapterQuery,
  AdapterRef,
  ListModelAdapters,
  ModelAdapter,
  ModelAdapterCreate,
  ModelAdapterPage,
  ModelAdapterUpload,
  SourcePreview,
  SourcePreviewRequest,
  Suggestion,
  SuggestionRequest,
} from "@/server/contract/adapters";
import { InProject } from "@/server/contract/inputs-stored";
import * as adapters from "@/server/domain/adapters";

const tags = ["Adapters"];
const auth = ["service_principal", "human_session"] as const;

export const registerAdapter = endpoint({
  method: "POST",
  path: "/v1/adapters",
  summary: "Register an adapter (LoRA weights)",
  description:
    "`source` is an artifact of the project, a repository, a direct link or a provider's own reference. A branch or tag is resolved to its commit once, at registration; no tensor is downloaded. A source that does not identify one file at one commit is catalog-only: `frozen` is false and executions reject it. Names are unique within an environment, ignoring case.",
  tags,
  auth,
  scope: "adapters:write",
  query: InProject,
  body: ModelAdapterCreate,
  output: ModelAdapter,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.register(ctx, query, body),
});

export const uploadAdapter = endpoint({
  method: "POST",
  path: "/v1/adapters/upload",
  summary: "Upload an adapter (LoRA weights)",
  description:
    "Send a safetensors file (at most 2 GiB, unless the installation sets a lower limit) in the field `file`, and text in the other fields. Fields that come before the file are validated before the file is read. The file is validated while it streams: a 422 at `file` names the rule it breaks. Family, trigger words, weight and license are read from the file when the fields omit them. Returns one frozen adapter of kind `service_artifact`. Costs nothing; a rejected upload stores nothing.",
  tags,
  auth,
  scope: "adapters:write",
  query: InProject,
  form: ModelAdapterUpload,
  output: ModelAdapter,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query, incoming }) => {
    incoming.body?.allow?.(adapters.MOST_UPLOAD_MS);
    return adapters.upload(ctx, query, {
      contentType: incoming.header("content-type"),
      contentLength: incoming.header("content-length"),
      bytes: incoming.body,
    });
  },
});

export const listAdapters = endpoint({
  method: "GET",
  path: "/v1/adapters",
  summary: "List adapters, newest first",
  description: "Filter with `q`, `baseModelFamily` and `health`. A family can be given by any of its names.",
  tags,
  auth,
  scope: "jobs:read",
  query: ListModelAdapters,
  output: ModelAdapterPage,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => adapters.list(ctx, query),
});

export const getAdapter = endpoint({
  method: "GET",
  path: "/v1/adapters/{adapter_id}",
  summary: "Retrieve an adapter",
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
  summary: "Delete an unused adapter",
  description:
    "Returns 409 AdapterInUse while the current version of an alias, a default or a recipe binding uses the adapter; `details.references` lists them. Existing receipts do not change.",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterRef,
  output: AdapterDeleted,
  errors: ["NotFound", "AdapterInUse"],
  run: (ctx, { params }) => adapters.remove(ctx, params.adapter_id),
});

export const previewAdapterSource = endpoint({
  method: "POST",
  path: "/v1/adapters/source-preview",
  summary: "Preview public LoRA weights before registering them",
  description:
    "`query` is `owner/name` on the Hugging Face Hub, a Hub URL, or a direct link to a supported host. Proposes commit, file, base model family, name, weight, trigger words and license. If several files are plausible, none is selected. Registers nothing, reads no tensor and costs nothing.",
  tags,
  auth,
  scope: "adapters:write",
  query: InProject,
  body: SourcePreviewRequest,
  output: SourcePreview,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.previewSource(ctx, query, body),
});

export const suggestAdapter = endpoint({
  method: "POST",
  path: "/v1/adapters/suggestions",
  summary: "Resolve a name or link to an adapter",
  description:
    "For an alias, an adapter id or a display name, returns a `patch` to merge into the input of image.generate.v1. If several display names contain the text, returns a `choice`. For a public link, returns a `suggestion` with its preview. Changes nothing.",
  tags,
  auth,
  scope: "adapters:write",
  query: AdapterQuery,
  body: SuggestionRequest,
  output: Suggestion,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.suggest(ctx, query, body),
});

export const acceptAdapter = endpoint({
  method: "POST",
  path: "/v1/adapters/suggestions/accept",
  summary: "Accept a suggested adapter",
  description:
    "Returns `used` for an adapter that is already registered in the environment, and `registered` for a public source, which is registered at its current commit. If the source has several files or no known family, the suggestion is returned again: name them with `filePath` and `baseModelFamily`. A source that is already registered is used as it is, unless `refresh` requests its newest commit; the same commit and file are the same adapter.",
  tags,
  auth,
  scope: "adapters:write",
  query: AdapterQuery,
  body: AcceptRequest,
  output: Suggestion,
  errors: ["PROJECT_REQUIRED", "ProviderUnavailable"],
  run: (ctx, { query, body }) => adapters.accept(ctx, query, body),
});

export const revalidateAdapter = endpoint({
  method: "POST",
  path: "/v1/adapters/{adapter_id}/revalidate",
  summary: "Check that an adapter's weights are still available",
  description:
    "Updates `sourceHealth` only. Never follows a branch or tag, and changes neither the adapter nor any alias.",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterRef,
  output: ModelAdapter,
  errors: ["NotFound"],
  run: (ctx, { params }) => adapters.revalidate(ctx, params.adapter_id),
});

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
  summary: "Register LoRA weights under a name",
  description:
    "`source` is an artifact of the project, a repository or a direct link, or a provider's own reference. A branch or tag is resolved to its commit once, now; no tensor is downloaded. A source that does not name one file at one commit stays catalog-only: `frozen` is false, and no execution takes it. Names are unique in an environment, compared without case.",
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
  summary: "Upload LoRA weights and register them under a name",
  description:
    "The field `file` is a safetensors file (at most 2 GiB, unless the installation takes less); the others are text and may stand before or behind it, where those before it are refused before its bytes are read. The file is checked while it streams: a 422 at `file` names the rule it breaks. What the fields leave open, family, trigger words, weight and licence, is taken from the file. Answers one frozen adapter of kind `service_artifact`; generates nothing and costs nothing. A refused upload leaves nothing behind.",
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
  summary: "List the adapters of an environment, newest first",
  description: "`q`, `baseModelFamily` and `health` narrow it; a family is meant by each of its names.",
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

export const previewAdapterSource = endpoint({
  method: "POST",
  path: "/v1/adapters/source-preview",
  summary: "Look up public LoRA weights before they are registered",
  description:
    "`query` is `owner/name` of the Hugging Face Hub, an address of it, or a direct link to a host weights are read from. Proposes commit, file, family of base models, name, weight, trigger words and licence; of several plausible files none is selected. Registers nothing, reads no tensor and costs nothing.",
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
  summary: "Turn a name or a link into what a request needs",
  description:
    "An alias, an adapter's id or a display name becomes `patch`, to be merged into the input of image.generate.v1; several display names that have the text in them are a `choice`; a public link is a `suggestion` with its preview. Changes nothing.",
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
  summary: "Use what a suggestion named, registering it where it is public and unambiguous",
  description:
    "`used`: an adapter of the environment. `registered`: a public one, at the commit it is at now, where one file and its family are known; `filePath` and `baseModelFamily` say what the source leaves open. Several files, or no family: what the suggestion showed. A source that is registered already is used as it is, unless `refresh` asks for its newest commit; the same commit and file is the same adapter.",
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
  summary: "Look whether an adapter's weights are still there",
  description:
    "Refreshes `sourceHealth` alone. It never follows a branch or tag, and changes neither the adapter nor what an alias stands for.",
  tags,
  auth,
  scope: "adapters:write",
  params: AdapterRef,
  output: ModelAdapter,
  errors: ["NotFound"],
  run: (ctx, { params }) => adapters.revalidate(ctx, params.adapter_id),
});

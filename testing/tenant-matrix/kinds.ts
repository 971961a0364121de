/*
 * The kinds of values in requests: ids and names of objects that belong to a tenant, and free text. A new field of an
 * endpoint, a tool or a procedure of the panel must be listed here, or the tenant matrix fails.
 */

/** Fields that name an object of a tenant, with the kind of object. */
export const IDS = {
  organization_id: "organization",
  project_id: "project",
  project_ids: "project",
  "openai-project": "project",
  user_id: "user",
  session_id: "session",
  key_id: "key",
  principal_id: "key",
  /** Filters of the audit log: the actor, and the object of the action. */
  actor: "email",
  subject: "key",
  invitation_id: "invitation",
  job_id: "job",
  execution_id: "execution",
  artifact_id: "artifact",
  input_artifact_ids: "artifact",
  base_artifact_id: "artifact",
  concept_artifact_id: "artifact",
  texture_reference_artifact_id: "artifact",
  input_payload_ref: "payload",
  receipt_id: "receipt",
  receipt_ids: "receipt",
  manifest_id: "manifest",
  bulk_id: "bulk",
  quote_id: "quote",
  estimate_id: "quote",
  budget_id: "budget",
  hold_id: "hold",
  payment_id: "payment",
  refund_id: "refund",
  endpoint_id: "endpoint",
  delivery_id: "delivery",
  request_id: "request",
  revision_id: "revision",
  adapter_id: "adapter",
  version_id: "version",
  alias: "alias",
  alias_name: "alias",
  comparison_id: "comparison",
  overall_winner_entry_id: "entry",
  value_winner_entry_id: "entry",
  credential_id: "credential",
  binding_id: "binding",
  /** A connection is a credential with its bindings. */
  connection_id: "credential",
  ids: "notification",
  mail_id: "mail",
  definition_id: "definition",
  panel_definition_id: "definition",
  panel_definition_key: "panelKey",
  /** A position in a list: the items after it are the caller's own, no matter who made the cursor. */
  cursor: "cursor",
  last_event_id: "cursor",
  "last-event-id": "cursor",
  /** The caller's own name for an execution; another tenant's execution may have the same name. */
  idempotency_key: "idempotency",
  "idempotency-key": "idempotency",
  /** A text by which a tenant's own objects are found. */
  tag: "tag",
} as const satisfies Record<string, string>;

export type Kind = (typeof IDS)[keyof typeof IDS] | "environment" | "commission" | "onboarding" | "panel";

/** Fields with another meaning than their name has in IDS, by operation and the field's name or full path. */
export const ELSEWHERE: Record<string, Kind | "words"> = {
  "PATCH /v1/projects/{project_id} id": "environment",
  "trpc organizations.changeProject id": "environment",
  "POST /v1/adapters ref": "artifact",
  "trpc adapters.register ref": "artifact",
  "POST /v1/adapters/suggestions query": "alias",
  "POST /v1/adapters/suggestions/accept query": "alias",
  "trpc adapters.suggest query": "alias",
  "trpc adapters.accept query": "alias",
  "GET /v1/adapters q": "alias",
  "trpc adapters.list q": "alias",
  "POST /v1/adapter-aliases alias": "words",
  "trpc adapters.createAlias alias": "words",
  "GET /v1/connections/onboarding/sessions/{session_id} session_id": "onboarding",
  "GET /v1/connections/onboarding/sessions/{session_id}/result session_id": "onboarding",
  "POST /v1/connections/onboarding/sessions/{session_id}/complete session_id": "onboarding",
  "trpc connections.session session_id": "onboarding",
  "GET /v1/panel-sessions/{session_id} session_id": "panel",
  "POST /v1/panel-sessions/{session_id}/revoke session_id": "panel",
  "POST /v1/panel-sessions/{session_id}/launch-codes session_id": "panel",
  "trpc embeds.revokeSession session_id": "panel",
  "POST /v1/panel-sessions initial_inputs.*": "artifact",
  "POST /v1/panel-sessions locked_inputs.*": "artifact",
  "trpc requests.commission quote_id": "commission",
  "trpc requests.pay quote_id": "commission",
  "POST /v1/provenance/lockfile/verify key_id": "words",
  "trpc budgets.resolveMany created_before": "words",
  "trpc provenance.verifyLockfile key_id": "words",
  "mcp verify_lockfile key_id": "words",
  // The project comes from a field beside the body, and replaces this one.
  "trpc pinned.run body.context.projectId": "words",
  "trpc catalog.quote body.context.projectId": "words",
  "trpc catalog.invoke body.context.projectId": "words",
  "trpc catalog.submit body.context.projectId": "words",
};

/**
 * Fields whose text names no tenant's object. A link of weights, the codes of a device and the launch code of an embed belong
 * to no one: they serve anyone who has them.
 */
export const WORDS = new Set(
  `.* acceptance_cases action api base_model_family billing_country billing_locale capabilities capability_key created_after created_before
  compatible_models content content-disposition content-length content-type context correlation_id created_at data
  data_base64 description display display_name document domain email endpoint_url environment experiment_hash
  expected expression external_ref facing file file_path filename from function.name glossary id if-none-match
  weights_link if-range implementation_preferences image image[] mask texts voice include input input.* input_overrides.* instructions integrity intent key label
  labels last_event license_name license_url locale maximum_charge.* mcp-session-id message metadata.* model
  model_id models name need note organization_name origin output_format_preference owner parameters.* password
  placeholders plan_key bulk_wait.* porkbun_agreement_version preferred_model preserve_terms preset_key prompt prompt_hash
  product_id profile_key profile_ref profile_version project_name proposed_capability.* constraints.* constraints
  provenance.* provider provider_pin provider_extensions.* q query question range reason reasoning_effort
  recipient_porkbun_username ref registrant.* repository request_hash resolved_prompt response_format_hash
  response_schema.* response_schema_name revision runtime_pricing schema.* schemas schemas secret settings.* size slug source source_locale stop summary
  target target_locale task_kind text texture_mode texture_prompt tlds to token tool_choice tool_choice.* tool_schemas.* tools.*
  tools_hash trigger_words type until url value variables.* verbosity view voice_id workload_tags.* x-request-id
  acceptance_cases.* implementation_preferences.* overrides.* labels authorization cookie host
  image_url annotations logprobs environments body.* request.* x-csrf-token sec-fetch-site accept tags client_name credentials credentials.* account_class device_code user_code code present next plan include_revoked test access-control-request-method
  capability capability_version default_routing_policy allowed_routing_policies allowed_generation_strategies allowed_origins command
  hosts href external_subject issuer pass_through refusal arguments tool_call_id call_id output opaque.* tool_calls.* messages.*`
    .split(/\s+/)
    .filter(Boolean),
);

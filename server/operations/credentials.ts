import { endpoint } from "@/server/api/endpoint";
import {
  BindCredential,
  CreateCredential,
  CreateProjectCredential,
  Credential,
  CredentialBinding,
  CredentialBindingPath,
  CredentialList,
  CredentialPath,
  DeletedCredential,
  Done,
  OrganizationPath,
  ProjectCredentialPath,
} from "@/server/contract/credentials";
import * as credentials from "@/server/domain/credentials";

const tags = ["Connections"];
const people = ["human_session"] as const;
const everybody = ["service_principal", "human_session"] as const;
const PATH = "/v1/organizations/{organization_id}/provider-credentials" as const;

export const createProviderCredential = endpoint({
  method: "POST",
  path: PATH,
  summary: "Create a provider credential",
  description:
    "Connects your own account at a provider. For signed-in admins of the organization; agents never send secrets. The secret is verified with the provider before anything is stored: a rejected secret is 422 at `secret`, and 503 means that the provider could not be reached. It is stored encrypted and used only at the address it was created for. The credential serves nothing until it is bound to an environment of a project.",
  tags,
  auth: people,
  params: OrganizationPath,
  body: CreateCredential,
  output: Credential,
  errors: ["NotFound", "ProviderUnavailable"],
  run: (ctx, { params, body }) => credentials.createCredential(ctx, params.organization_id, body),
});

export const listProviderCredentials = endpoint({
  method: "GET",
  path: PATH,
  summary: "List provider credentials, newest first, without their secrets",
  tags,
  auth: people,
  params: OrganizationPath,
  output: CredentialList,
  errors: ["NotFound"],
  run: (ctx, { params }) => credentials.listCredentials(ctx, params.organization_id),
});

export const deleteProviderCredential = endpoint({
  method: "DELETE",
  path: `${PATH}/{credential_id}`,
  summary: "Delete a credential, with its secret and bindings",
  description:
    "A key bound to a project may delete a credential only if no other environment uses it. Queued work that depends on the credential fails with ProviderUnavailable and is not sent.",
  tags,
  auth: everybody,
  scope: "credentials:write",
  params: CredentialPath,
  output: DeletedCredential,
  errors: ["NotFound"],
  run: (ctx, { params }) => credentials.deleteCredential(ctx, params.organization_id, params.credential_id),
});

export const rotateProviderCredential = endpoint({
  method: "POST",
  path: `${PATH}/{credential_id}/rotate`,
  summary: "Replace a credential's secret",
  description:
    "Takes the same body as creating a credential. The new secret is verified with the provider first. The id, the bindings and the address do not change. Keys need the same permission as for deleting.",
  tags,
  auth: everybody,
  scope: "credentials:write",
  params: CredentialPath,
  body: CreateCredential,
  output: Credential,
  errors: ["NotFound", "ProviderUnavailable"],
  run: (ctx, { params, body }) =>
    credentials.rotateCredential(ctx, params.organization_id, params.credential_id, body),
});

export const bindProviderCredential = endpoint({
  method: "POST",
  path: `${PATH}/{credential_id}/bindings`,
  summary: "Bind a credential to an environment of a project",
  description:
    "An environment uses one credential per provider. Repeating the request returns the same binding. Returns AlreadyConnected if another credential of the same provider serves the environment.",
  tags,
  auth: people,
  params: CredentialPath,
  body: BindCredential,
  output: CredentialBinding,
  errors: ["NotFound", "AlreadyConnected"],
  run: (ctx, { params, body }) =>
    credentials.bindCredential(ctx, params.organization_id, params.credential_id, body),
});

export const unbindProviderCredential = endpoint({
  method: "DELETE",
  path: `${PATH}/{credential_id}/bindings/{binding_id}`,
  summary: "Remove a credential from an environment",
  tags,
  auth: everybody,
  scope: "credentials:write",
  params: CredentialBindingPath,
  output: Done,
  errors: ["NotFound"],
  run: (ctx, { params }) =>
    credentials.unbindCredential(ctx, params.organization_id, params.credential_id, params.binding_id),
});

export const connectProjectCredential = endpoint({
  method: "POST",
  path: "/v1/projects/{project_id}/provider-credentials",
  summary: "Create a credential for a project",
  description:
    "Creates the credential in the organization and binds it to the named environments of the project, or to all of them. `POST /v1/connections` does the same with more options.",
  tags,
  auth: people,
  params: ProjectCredentialPath,
  body: CreateProjectCredential,
  output: Credential,
  errors: ["NotFound", "AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { params, body }) => credentials.connectProject(ctx, { ...params, ...body }),
});

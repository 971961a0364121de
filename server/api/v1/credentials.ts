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
  summary: "Connect an account of your own at a provider",
  description:
    "For admins of the organization, signed in: agents never give secrets. The provider is asked whether it takes the secret before anything is stored; a refused one is 422 at `secret`, and 503 says that the provider could not be asked. Stored encrypted, used only at the address it was made for. It serves nothing until it is bound to an environment of a project.",
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
  summary: "List what is connected, newest first, without secrets",
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
  summary: "Delete a credential with its secret and bindings",
  description:
    "A key that is bound to a project may do this where nothing but its own environment runs on the credential. Work that waits and was to use it fails with ProviderUnavailable; nothing of it is sent.",
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
  summary: "Put a new secret in the place of the old one",
  description:
    "The body of a create. Checked with the provider first; the id, the bindings and the address stay. For keys as with deletion.",
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
  summary: "Let an environment of a project use a credential",
  description:
    "One credential a provider and environment. The same again answers the same binding; AlreadyConnected where another one serves.",
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
  summary: "Take a credential away from an environment",
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
  summary: "Connect an account for a project, in one step",
  description:
    "Stores it as a create of the organization does, and binds it to the project's environments: those named, or all of them. `POST /v1/connections` does more.",
  tags,
  auth: people,
  params: ProjectCredentialPath,
  body: CreateProjectCredential,
  output: Credential,
  errors: ["NotFound", "AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { params, body }) => credentials.connectProject(ctx, { ...params, ...body }),
});

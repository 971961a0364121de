import {
  BindCredential,
  CreateCredential,
  CreateProjectCredential,
  Credential,
  CredentialBinding,
  CredentialList,
  DeletedCredential,
  Done,
} from "@/server/contract/credentials";
import * as credentials from "@/server/domain/connections";
import { byKeysAndPeople, byPeople, operations } from "./define";

const people = operations("Connections", byPeople);
const write = operations("Connections", byKeysAndPeople("credentials:write"));

export const createProviderCredential = people.post(
  "/v1/organizations/{organization_id}/provider-credentials",
  {
    summary: "Create a provider credential",
    description:
      "Connects your own account at a provider. For signed-in admins of the organization; agents never send secrets. The secret is verified with the provider before anything is stored: a rejected secret is 422 at `secret`, and 503 means that the provider could not be reached. It is stored encrypted and used only at the address it was created for. The credential serves nothing until it is bound to an environment of a project.",
    body: CreateCredential,
    example: { provider: "openai", secret: "sk-your-own-key", label: "default" },
    output: Credential,
    errors: ["ProviderUnavailable"],
    run: (ctx, { organization_id, body }) => credentials.createCredential(ctx, organization_id, body),
  },
);

export const listProviderCredentials = people.get(
  "/v1/organizations/{organization_id}/provider-credentials",
  {
    summary: "List provider credentials, newest first, without their secrets",
    output: CredentialList,
    run: (ctx, { organization_id }) => credentials.listCredentials(ctx, organization_id),
  },
);

export const deleteProviderCredential = write.delete(
  "/v1/organizations/{organization_id}/provider-credentials/{credential_id}",
  {
    summary: "Delete a credential, with its secret and bindings",
    description:
      "A key bound to a project may delete a credential only if no other environment uses it. Queued work that depends on the credential fails with ProviderUnavailable and is not sent.",
    output: DeletedCredential,
    run: (ctx, { organization_id, credential_id }) =>
      credentials.deleteCredential(ctx, organization_id, credential_id),
  },
);

export const rotateProviderCredential = write.post(
  "/v1/organizations/{organization_id}/provider-credentials/{credential_id}/rotate",
  {
    summary: "Replace a credential's secret",
    description:
      "Takes the same body as creating a credential. The new secret is verified with the provider first. The id, the bindings and the address do not change. Keys need the same permission as for deleting.",
    body: CreateCredential,
    example: { provider: "openai", secret: "sk-your-new-key", label: "default" },
    output: Credential,
    errors: ["ProviderUnavailable"],
    run: (ctx, { organization_id, credential_id, body }) =>
      credentials.rotateCredential(ctx, organization_id, credential_id, { input: body }),
  },
);

export const bindProviderCredential = people.post(
  "/v1/organizations/{organization_id}/provider-credentials/{credential_id}/bindings",
  {
    summary: "Bind a credential to an environment of a project",
    description:
      "An environment uses one credential per provider. Repeating the request returns the same binding. Returns AlreadyConnected if another credential of the same provider serves the environment.",
    body: BindCredential,
    example: { projectId: "cpr_01jd0000000000000000000000", environment: "development", provider: "openai" },
    output: CredentialBinding,
    errors: ["AlreadyConnected"],
    run: (ctx, { organization_id, credential_id, body }) =>
      credentials.bindCredential(ctx, organization_id, credential_id, { input: body }),
  },
);

export const unbindProviderCredential = write.delete(
  "/v1/organizations/{organization_id}/provider-credentials/{credential_id}/bindings/{binding_id}",
  {
    summary: "Remove a credential from an environment",
    output: Done,
    run: (ctx, { organization_id, credential_id, binding_id }) =>
      credentials.unbindCredential(ctx, organization_id, credential_id, binding_id),
  },
);

export const connectProjectCredential = people.post("/v1/projects/{project_id}/provider-credentials", {
  summary: "Create a credential for a project",
  description:
    "Creates the credential in the organization and binds it to the named environments of the project, or to all of them. `POST /v1/connections` does the same with more options.",
  body: CreateProjectCredential,
  example: { provider: "openai", secret: "sk-your-own-key" },
  output: Credential,
  errors: ["AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { project_id, body }) => credentials.connectProject(ctx, { project_id, ...body }),
});

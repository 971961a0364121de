"use client";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ChoiceField, TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import type { FormValues } from "@/components/blocks/form/form-values";
import { PresetField } from "@/components/blocks/form/preset-field";
import { type ProjectChoice, useTRPC } from "@/components/data/trpc";
import { SecretDialog } from "@/components/ui/secret-dialog";
import { EVENT_TYPES } from "@/server/contract/enums";
import type { DeliveryEndpoint } from "@/server/contract/webhooks";

/** The event types by group. Types with any other prefix are listed under Organization. */
const GROUPS = [
  { title: "Jobs", names: EVENT_TYPES.filter((type) => type.startsWith("job.")) },
  {
    title: "Capability requests",
    names: EVENT_TYPES.filter((type) => type.startsWith("capability_request.")),
  },
  {
    title: "Organization",
    names: EVENT_TYPES.filter((type) => !/^(job|capability_request)\./.test(type)),
  },
];

const REACHES = [
  { value: "project", label: "This project" },
  { value: "organization", label: "Every project" },
];

/**
 * Makes a secret in the Standard Webhooks format: `whsec_` and random bytes in base64. It is made here, so that no server
 * response contains it.
 */
function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/**
 * A dialog that creates an endpoint, or edits the given one. Afterwards it shows once a generated secret, or an entered
 * secret in the form that receivers' libraries accept. It is rendered beside the list, so that it survives the list's first
 * refresh.
 */
export function EndpointDialog({
  project: { organizationId, projectId },
  endpoint,
  onClose,
}: {
  project: ProjectChoice;
  endpoint?: DeliveryEndpoint;
  onClose(): void;
}) {
  const trpc = useTRPC();
  /** The secret's source. An edited endpoint usually keeps its own. */
  const [source, setSource] = useState(endpoint ? "keep" : "generate");
  const [isReady, setReady] = useState(true);
  const isGenerated = source === "generate";
  const options = {
    ...(isGenerated ? {} : { done: endpoint ? "Endpoint saved" : "Endpoint created" }),
    refresh: [trpc.webhooks.pathKey()],
    isInPlace: true,
  };
  const create = useAction(trpc.webhooks.create.mutationOptions(), options);
  const update = useAction(trpc.webhooks.update.mutationOptions(), options);
  const action = endpoint ? update : create;
  function send(sent: FormValues) {
    const url = sent.text("url");
    const secret = isGenerated ? makeSecret() : source === "own" ? sent.raw("secret") : null;
    const eventTypes = sent.chosen("eventTypes", EVENT_TYPES);
    if (endpoint) return update.mutate({ endpoint_id: endpoint.endpointId, url, secret, eventTypes });
    if (secret === null) return;
    const owner = sent.text("reach") === "organization" ? { organizationId } : { projectId };
    create.mutate({ ...owner, url, secret, eventTypes });
  }
  const shown = action.isSuccess && (isGenerated ? action.variables?.secret : action.data?.signingSecret);
  return (
    <FormDialog
      isOpen
      onOpenChange={onClose}
      title={endpoint ? "Edit endpoint" : "Add endpoint"}
      description="Events are posted as JSON and signed with Standard Webhooks."
      action={action}
      send={send}
      submit={endpoint ? "Save" : "Add endpoint"}
      isReady={isReady}
      after={
        action.isSuccess &&
        shown && (
          <SecretDialog
            title="Copy the signing secret now"
            description="This is the only time it is shown. Receivers use it to verify that deliveries come from this installation."
            secret={shown}
            what="signing secret"
            testId="new-secret"
          />
        )
      }
    >
      <TextField
        name="url"
        label="URL"
        type="url"
        required
        maxLength={2048}
        defaultValue={endpoint?.url}
        placeholder="https://example.com/webhooks"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        {!endpoint && (
          <ChoiceField name="reach" label="Events from" defaultValue="project" options={REACHES} />
        )}
        <ChoiceField
          name="source"
          label="Signing secret"
          value={source}
          onValueChange={setSource}
          options={[
            ...(endpoint ? [{ value: "keep", label: "Keep current secret" }] : []),
            { value: "generate", label: `Generate ${endpoint ? "new secret" : "secret"}` },
            { value: "own", label: "Enter secret" },
          ]}
        />
      </div>
      {source === "own" && <OwnSecret />}
      <PresetField
        name="eventTypes"
        label="Events"
        presets={[{ label: "All events", hint: "Types that are added later, too.", names: [] }]}
        own="Choose events"
        groups={GROUPS}
        initial={endpoint?.eventTypes}
        onReady={setReady}
      />
    </FormDialog>
  );
}

function OwnSecret() {
  return (
    <TextField
      name="secret"
      label="Secret"
      hint={
        <>
          <code>whsec_</code> followed by the base64 of 24 to 64 random bytes, or a text of 24 to 512
          characters without blanks at its ends.
        </>
      }
      type="password"
      required
      minLength={24}
      maxLength={512}
      autoComplete="new-password"
    />
  );
}

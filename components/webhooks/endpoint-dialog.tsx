"use client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { type ProjectChoice, toFailure, useTRPC } from "@/components/trpc";
import { CheckList } from "@/components/ui/check-list";
import { Dialog, DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { SecretDialog } from "@/components/ui/secret-dialog";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import { type DeliveryEndpoint, EventType } from "@/server/contract/webhooks";

/** The event types by group. New types of neither group are listed under the organization. */
const GROUPS = [
  { title: "Jobs", names: EventType.options.filter((type) => type.startsWith("job.")) },
  {
    title: "Capability requests",
    names: EventType.options.filter((type) => type.startsWith("capability_request.")),
  },
  {
    title: "Organization",
    names: EventType.options.filter((type) => !/^(job|capability_request)\./.test(type)),
  },
];

/**
 * A dialog that creates an endpoint, or edits the given one, and shows a generated secret once. It is rendered beside
 * the list, not inside it, so that it survives the list's first refresh.
 */
export function EndpointDialog({
  project,
  endpoint,
  isOpen,
  onOpenChange,
}: {
  project: ProjectChoice;
  endpoint?: DeliveryEndpoint;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <Dialog open={isOpen} onOpenChange={onOpenChange}>
      {isOpen && <EndpointForm project={project} endpoint={endpoint} onDone={() => onOpenChange(false)} />}
    </Dialog>
  );
}

/**
 * In the Standard Webhooks format: `whsec_` and random bytes in base64. Generated here, so that no server response
 * contains it.
 */
function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

function EndpointForm({
  project,
  endpoint,
  onDone,
}: {
  project: ProjectChoice;
  endpoint: DeliveryEndpoint | undefined;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [types, setTypes] = useState<ReadonlySet<string>>(() => new Set(endpoint?.eventTypes));
  /** The secret's source. An edited endpoint usually keeps its own. */
  const [source, setSource] = useState(endpoint ? "keep" : "generate");
  const [shown, setShown] = useState<string | null>(null);
  const options = {
    onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.webhooks.pathKey() }),
    meta: { isShownInPlace: true },
  };
  const create = useMutation(trpc.webhooks.create.mutationOptions(options));
  const update = useMutation(trpc.webhooks.update.mutationOptions(options));
  const error = create.error ?? update.error;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const url = String(fields.get("url"));
    const made = source === "generate" ? makeSecret() : null;
    const secret = source === "own" ? String(fields.get("secret")) : made;
    const eventTypes = EventType.options.filter((type) => types.has(type));
    const onSuccess = () => {
      if (made) return setShown(made);
      toast.success(endpoint ? "Endpoint saved" : "Endpoint created");
      onDone();
    };
    if (endpoint) {
      update.mutate({ endpoint_id: endpoint.endpointId, url, secret, eventTypes }, { onSuccess });
    } else if (secret !== null) {
      const owner =
        fields.get("reach") === "organization"
          ? { organizationId: project.organizationId }
          : { projectId: project.projectId };
      create.mutate({ ...owner, url, secret, eventTypes }, { onSuccess });
    }
  }

  if (shown)
    return (
      <SecretDialog
        title="Copy the signing secret now"
        description="This is the only time it is shown. Receivers use it to verify that deliveries come from this installation."
        secret={shown}
        what="signing secret"
        testId="new-secret"
      />
    );

  return (
    <DialogContent
      title={endpoint ? "Edit endpoint" : "Add endpoint"}
      description="Events are posted as JSON and signed with Standard Webhooks."
    >
      <form onSubmit={submit} className="space-y-4">
        {error && (
          <Notice tone="bad" role="alert">
            {toFailure(error).message}
          </Notice>
        )}
        <div className="space-y-1.5">
          <Label htmlFor="endpoint-url">URL</Label>
          <Input
            id="endpoint-url"
            name="url"
            type="url"
            required
            maxLength={2048}
            defaultValue={endpoint?.url}
            placeholder="https://example.com/webhooks"
            autoComplete="off"
          />
        </div>
        <div className="grid gap-4 sm:grid-cols-2">
          {!endpoint && (
            <div className="grid gap-1.5">
              <Label htmlFor="endpoint-reach">Events from</Label>
              <Select name="reach" defaultValue="project">
                <SelectTrigger id="endpoint-reach" />
                <SelectContent>
                  <SelectItem value="project">This project</SelectItem>
                  <SelectItem value="organization">Every project</SelectItem>
                </SelectContent>
              </Select>
            </div>
          )}
          <div className="grid gap-1.5">
            <Label htmlFor="endpoint-source">Signing secret</Label>
            <Select value={source} onValueChange={setSource}>
              <SelectTrigger id="endpoint-source" />
              <SelectContent>
                {endpoint && <SelectItem value="keep">Keep current secret</SelectItem>}
                <SelectItem value="generate">Generate {endpoint ? "new secret" : "secret"}</SelectItem>
                <SelectItem value="own">Enter secret</SelectItem>
              </SelectContent>
            </Select>
          </div>
        </div>
        {source === "own" && (
          <div className="space-y-1.5">
            <Label htmlFor="endpoint-secret">Secret</Label>
            <Input
              id="endpoint-secret"
              name="secret"
              type="password"
              required
              maxLength={512}
              autoComplete="new-password"
            />
            <p className="text-xs text-muted">
              <code>whsec_</code> followed by base64, or any text. Use at least 24 random bytes, because
              anyone who sees a delivery can guess a short secret.
            </p>
          </div>
        )}
        <fieldset>
          <legend className="text-sm font-medium">Events</legend>
          <p className="mt-0.5 text-xs text-muted">
            {types.size === 0 ? "All events, including future types." : `${types.size} selected.`}
          </p>
          {GROUPS.map(({ title, names }) => (
            <fieldset key={title} className="mt-3">
              <legend className="text-xs font-medium text-muted">{title}</legend>
              <CheckList prefix="type" names={names} chosen={types} onChange={setTypes} />
            </fieldset>
          ))}
        </fieldset>
        <SubmitActions pending={create.isPending || update.isPending}>
          {endpoint ? "Save" : "Add endpoint"}
        </SubmitActions>
      </form>
    </DialogContent>
  );
}

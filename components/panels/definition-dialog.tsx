"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { useFailure } from "@/components/form-failure";
import { type ProjectChoice, useTRPC } from "@/components/trpc";
import { SOME_AMOUNT } from "@/components/ui/amount";
import { AmountField } from "@/components/ui/amount-field";
import { CheckList } from "@/components/ui/check-list";
import { Dialog, DialogContent, SubmitActions } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { Notice } from "@/components/ui/notice";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import { useMutation } from "@/components/use-mutation";
import type { PanelDefinition } from "@/server/contract/panels";
import { emptyTerms, originsIn, ROUTING, ROUTING_WORDS, readTerms, SHOWN, SHOWN_WORDS } from "./terms";

/** Creates an embed, or edits the given one. */
export function DefinitionDialog({
  project,
  definition,
  isOpen,
  onOpenChange,
}: {
  project: ProjectChoice;
  definition?: PanelDefinition;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <Dialog open={isOpen} onOpenChange={onOpenChange}>
      {isOpen && (
        <DialogContent
          className="max-w-2xl"
          title={definition ? `Edit “${definition.displayName}”` : "Create embed"}
          description={
            definition
              ? "Changes to appearance or permissions create a new version, used by new sessions."
              : "Choose what runs, how it looks, and what a session may do."
          }
        >
          <DefinitionForm project={project} definition={definition} onDone={() => onOpenChange(false)} />
        </DialogContent>
      )}
    </Dialog>
  );
}

const ANY = "any"; // a select cannot hold an empty value

function DefinitionForm({
  project,
  definition,
  onDone,
}: {
  project: ProjectChoice;
  definition: PanelDefinition | undefined;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { presentation, policy, allowedOrigins } = definition?.currentVersion ?? emptyTerms;
  const [shown, setShown] = useState(() => new Set(SHOWN.filter((name) => presentation[name])));
  const [routing, setRouting] = useState(
    () => new Set(ROUTING.filter((name) => policy.allowedRoutingPolicies.includes(name))),
  );
  const [isTyped, setTyped] = useState(false);
  useUnsaved(isTyped);
  const options = {
    onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.panels.pathKey() }),
    meta: { isShownInPlace: true },
  };
  const define = useMutation(trpc.panels.define.mutationOptions(options));
  const change = useMutation(trpc.panels.change.mutationOptions(options));
  const { form, failure, problemOf } = useFailure(define.error ?? change.error);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const displayName = String(fields.get("name"));
    const terms = {
      ...readTerms(fields, { shown, routing, policy, presentation }),
      allowedOrigins: originsIn(String(fields.get("origins"))),
    };
    const onSuccess = (made: PanelDefinition) => {
      toast.success(definition ? `Saved as version ${made.currentVersion.version}` : "Embed created");
      onDone();
    };
    if (definition)
      return change.mutate({ definition_id: definition.id, displayName, ...terms }, { onSuccess });
    const capability = String(fields.get("capability"));
    const isBound = fields.get("reach") !== "organization";
    define.mutate(
      {
        key: String(fields.get("key")),
        displayName,
        capabilityKey: capability === ANY ? null : capability,
        ...(isBound ? { projectId: project.projectId } : { organizationId: project.organizationId }),
        ...terms,
      },
      { onSuccess },
    );
  }

  return (
    <form ref={form} onSubmit={submit} onInput={() => setTyped(true)} className="space-y-4">
      {failure && (
        <Notice tone="bad" role="alert">
          {failure.issues.length > 0
            ? "Some fields are invalid. Fix the marked fields and try again."
            : failure.message}
        </Notice>
      )}
      <Field id="panel-name" label="Name" hint="The heading visitors see." problem={problemOf("displayName")}>
        {(aria) => (
          <Input
            {...aria}
            name="name"
            required
            maxLength={255}
            defaultValue={definition?.displayName}
            placeholder="Picture studio"
            autoComplete="off"
          />
        )}
      </Field>
      {!definition && <Identity project={project} problemOf={problemOf} />}
      <Field
        id="panel-origins"
        label="Allowed origins"
        hint="One per line, such as https://app.example. If empty, each session sets its own."
        problem={problemOf("allowedOrigins")}
      >
        {(aria) => (
          <Textarea
            {...aria}
            name="origins"
            rows={2}
            spellCheck={false}
            className="min-h-16 font-mono text-xs"
            defaultValue={allowedOrigins.join("\n")}
          />
        )}
      </Field>
      <div className="grid items-start gap-4 sm:grid-cols-3">
        <Field id="panel-pricing" label="Price">
          {(aria) => (
            <Select name="pricing" defaultValue={presentation.pricingDisplay}>
              <SelectTrigger {...aria} />
              <SelectContent>
                <SelectItem value="total">Total</SelectItem>
                <SelectItem value="breakdown">Breakdown</SelectItem>
                <SelectItem value="hidden">Hidden</SelectItem>
              </SelectContent>
            </Select>
          )}
        </Field>
        <Field id="panel-outputs" label="Maximum outputs" hint="Per job." problem={problemOf("maxOutputs")}>
          {(aria) => (
            <Input
              {...aria}
              name="outputs"
              type="number"
              min={1}
              max={64}
              step={1}
              required
              defaultValue={policy.maxOutputs}
            />
          )}
        </Field>
        <AmountField
          id="panel-spend"
          name="spend"
          label="Maximum price per job"
          hint="In USD. If empty, only the session's limit applies."
          problem={problemOf("maxSpendPerJobMicros")}
          bounds={SOME_AMOUNT}
          micros={policy.maxSpendPerJobMicros ?? null}
        />
      </div>
      <fieldset>
        <legend className="text-sm font-medium">Visible fields</legend>
        <CheckList prefix="shown" names={SHOWN} words={SHOWN_WORDS} chosen={shown} onChange={setShown} />
      </fieldset>
      <fieldset>
        <legend className="text-sm font-medium">Routing choices</legend>
        <p className="mt-0.5 text-xs text-muted">
          If none are selected, the cheapest route is chosen automatically.
        </p>
        <CheckList
          prefix="routing"
          names={ROUTING}
          words={ROUTING_WORDS}
          chosen={routing}
          onChange={setRouting}
        />
      </fieldset>
      <SubmitActions pending={define.isPending || change.isPending}>
        {definition ? "Save" : "Create embed"}
      </SubmitActions>
    </form>
  );
}

/** An embed's fixed properties: its key, its capability and its owner. */
function Identity({
  project,
  problemOf,
}: {
  project: ProjectChoice;
  problemOf(field: string): string | undefined;
}) {
  const trpc = useTRPC();
  const { data: catalog } = useQuery(trpc.catalog.list.queryOptions({ project_id: project.projectId }));
  const durable = catalog?.filter(({ executionModes }) => executionModes.includes("job_async")) ?? [];
  return (
    <div className="grid items-start gap-4 sm:grid-cols-3">
      <Field
        id="panel-key"
        label="Key"
        hint="Sessions can refer to the embed by this key."
        problem={problemOf("key")}
      >
        {(aria) => (
          <Input
            {...aria}
            name="key"
            required
            maxLength={128}
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            title="Letters and digits; after the first character also . _ -"
            placeholder="picture-studio"
            autoComplete="off"
            spellCheck={false}
          />
        )}
      </Field>
      <Field id="panel-capability" label="Capability" problem={problemOf("capabilityKey")}>
        {(aria) => (
          <Select name="capability" defaultValue="text.general.fast.v1">
            <SelectTrigger {...aria} />
            <SelectContent>
              {durable.map(({ key, title }) => (
                <SelectItem key={key} value={key}>
                  {title}
                </SelectItem>
              ))}
              <SelectItem value={ANY}>Any (custom interface)</SelectItem>
            </SelectContent>
          </Select>
        )}
      </Field>
      <Field id="panel-reach" label="Access">
        {(aria) => (
          <Select name="reach" defaultValue="project">
            <SelectTrigger {...aria} />
            <SelectContent>
              <SelectItem value="project">This project</SelectItem>
              <SelectItem value="organization">Every project</SelectItem>
            </SelectContent>
          </Select>
        )}
      </Field>
    </div>
  );
}

"use client";
import { type FormEvent, type ReactNode, useState } from "react";
import { focusWrong, useFailure } from "@/components/form-failure";
import { sentencesOf } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Textarea } from "@/components/ui/textarea";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import {
  DRAFT_FIELDS,
  type Draft,
  type DraftField,
  JSON_FIELDS,
  type JsonField,
  readDraft,
  refusedAt,
} from "./draft";

type Body = NonNullable<ReturnType<typeof readDraft>["body"]>;

const JSON_HELP: Record<JsonField, { label: string; help: string; example: string }> = {
  acceptanceCases: {
    label: "Acceptance cases",
    help: "A list of objects with input and expected, which show that the capability works.",
    example: '[{ "input": { "page": 1 }, "expected": { "dimensions": 12 } }]',
  },
  constraints: {
    label: "Constraints",
    help: "An object, for example with the maximum latency.",
    example: '{ "maxLatencySeconds": 30 }',
  },
  proposedCapability: {
    label: "Proposed capability",
    help: "An object with a suggested key.",
    example: '{ "capabilityKey": "drawing.measure.v1" }',
  },
  implementationPreferences: {
    label: "Implementation preferences",
    help: "An object with preferences for how it is built.",
    example: '{ "selfHosted": true }',
  },
};

/** The form for a request's content. JSON is checked while typing; missing fields on submit. */
export function RequestForm({
  initial,
  action,
  isPending,
  isSaved,
  error,
  cancel,
  onSend,
}: {
  initial: Draft;
  /** The label of the submit button. */
  action: string;
  isPending: boolean;
  /** It is saved, and its page is about to open. */
  isSaved: boolean;
  /** The server's error from the last attempt. */
  error: unknown;
  cancel: ReactNode;
  onSend(body: Body): void;
}) {
  const [draft, setDraft] = useState(initial);
  const [wasTried, setTried] = useState(false);
  // A server issue is shown until its field changes.
  const [touched, setTouched] = useState<ReadonlySet<DraftField>>(new Set());
  const { body, problems } = readDraft(draft);
  const { form, failure } = useFailure(error);
  useUnsaved(!isSaved && DRAFT_FIELDS.some((field) => draft[field] !== initial[field]));
  const refused = failure ? refusedAt(failure.issues) : {};

  function change(field: DraftField, text: string) {
    setDraft({ ...draft, [field]: text });
    setTouched(new Set([...touched, field]));
  }
  function problemOf(field: DraftField): string | undefined {
    if (refused[field] && !touched.has(field)) return refused[field];
    const isMissing = draft[field].trim() === "";
    return isMissing && !wasTried ? undefined : problems[field];
  }
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    setTouched(new Set());
    if (body) return onSend(body);
    // After the next paint invalid fields are marked, and the first gets the focus.
    requestAnimationFrame(() => focusWrong(form.current));
  }
  const of = (field: DraftField) => ({
    field,
    text: draft[field],
    problem: problemOf(field),
    onChange: (text: string) => change(field, text),
  });

  return (
    <form ref={form} onSubmit={send} noValidate className="space-y-5">
      <Card>
        <CardBody className="space-y-5">
          <Field
            {...of("summary")}
            label="Summary"
            help="One line: what the capability does."
            isLine
            required
          />
          <Field
            {...of("need")}
            label="Need"
            help="Describe the input, the output and what matters, in as much detail as needed."
            required
            className="min-h-40"
          />
        </CardBody>
      </Card>
      <Card>
        <CardBody className="space-y-5">
          {JSON_FIELDS.map((name) => (
            <Field key={name} {...of(name)} {...JSON_HELP[name]} isJson />
          ))}
          <Field
            {...of("others")}
            label="Other fields"
            help="An object with any other fields that should be part of the request and its hash."
            example='{ "team": "blue" }'
            isJson
          />
        </CardBody>
      </Card>
      {Boolean(error) && (
        <Notice tone="bad" role="alert">
          {sentencesOf(error)}
        </Notice>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        {cancel}
        <Button type="submit" variant="primary" pending={isPending}>
          {action}
        </Button>
      </div>
    </form>
  );
}

function Field({
  field,
  label,
  help,
  text,
  problem,
  example,
  isLine = false,
  isJson = false,
  required = false,
  className,
  onChange,
}: {
  field: DraftField;
  label: string;
  help: string;
  text: string;
  problem: string | undefined;
  example?: string;
  isLine?: boolean;
  isJson?: boolean;
  required?: boolean;
  className?: string;
  onChange(text: string): void;
}) {
  const shared = {
    id: `request-${field}`,
    name: field,
    value: text,
    placeholder: example,
    "aria-describedby": `request-${field}-help request-${field}-problem`,
    "aria-invalid": problem ? true : undefined,
    "aria-required": required || undefined,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  return (
    <div className="space-y-1.5">
      <Label htmlFor={shared.id}>
        {label}
        {isJson && <span className="font-normal text-muted"> (JSON, optional)</span>}
      </Label>
      {isLine ? (
        <Input {...shared} autoComplete="off" className={className} />
      ) : (
        <Textarea
          {...shared}
          spellCheck={!isJson}
          className={cn(isJson && "min-h-16 font-mono text-xs", className)}
        />
      )}
      <p id={`request-${field}-help`} className="text-xs text-muted">
        {help}
      </p>
      <p
        id={`request-${field}-problem`}
        aria-live="polite"
        className="text-xs font-medium text-bad [overflow-wrap:anywhere]"
      >
        {problem}
      </p>
    </div>
  );
}

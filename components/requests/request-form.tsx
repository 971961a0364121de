"use client";
import { Plus, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Refusal } from "@/components/blocks/feedback/refusal";
import { LinesField, TextField } from "@/components/blocks/form/fields";
import { Form, focusWrong } from "@/components/blocks/form/form";
import { toFailure } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import type { CapabilityRequestBody } from "@/server/contract/requests";
import {
  DRAFT_FIELDS,
  type Draft,
  type DraftField,
  type Example,
  examplesOf,
  fromExamples,
  JSON_FIELDS,
  type JsonField,
  memberText,
  readDraft,
  refusedAt,
  withMember,
} from "./draft";
import { Folded } from "./wording";

type Body = NonNullable<ReturnType<typeof readDraft>["body"]>;

/** Members that have a field of their own; the JSON below has them, too. */
const MEMBERS: {
  field: JsonField;
  member: string;
  label: string;
  hint?: string;
  placeholder: string;
  isNumber?: true;
}[] = [
  {
    field: "constraints",
    member: "maxLatencySeconds",
    label: "Longest response time, in seconds",
    placeholder: "30",
    isNumber: true,
  },
  {
    field: "proposedCapability",
    member: "capabilityKey",
    label: "Suggested key",
    placeholder: "drawing.measure.v1",
  },
  {
    field: "implementationPreferences",
    member: "notes",
    label: "How it should be built",
    placeholder: "For example on our own servers, or with a model of your choice",
  },
];
/** What is no number stays as it is typed, and is refused by who reads it. */
const numberOr = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);

const JSON_HELP: Record<JsonField | "others", { label: string; hint: string; placeholder: string }> = {
  acceptanceCases: {
    label: "Acceptance cases",
    hint: "A list of objects with input and expected, which show that the capability works.",
    placeholder: '[{ "input": { "page": 1 }, "expected": { "dimensions": 12 } }]',
  },
  constraints: { label: "Constraints", hint: "An object.", placeholder: '{ "maxLatencySeconds": 30 }' },
  proposedCapability: {
    label: "Proposed capability",
    hint: "An object.",
    placeholder: '{ "capabilityKey": "drawing.measure.v1" }',
  },
  implementationPreferences: {
    label: "Implementation preferences",
    hint: "An object.",
    placeholder: '{ "selfHosted": true }',
  },
  others: {
    label: "Other fields",
    hint: "An object with any other fields that should be part of the request and its hash.",
    placeholder: '{ "team": "blue" }',
  },
};
const JSON_NAMES = [...JSON_FIELDS, "others"] as const;

/** The contract's schema, once it is loaded: zod weighs more than the page. */
function useSchema() {
  const [schema, setSchema] = useState<typeof CapabilityRequestBody | null>(null);
  useEffect(() => {
    void import("@/server/contract/requests").then((contract) => setSchema(contract.CapabilityRequestBody));
  }, []);
  return schema;
}

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
  const { body, problems } = readDraft(draft, useSchema());
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) focusWrong(form.current);
  }, [error]);
  useUnsaved(!isSaved && DRAFT_FIELDS.some((field) => draft[field] !== initial[field]));
  const refused = error ? refusedAt(toFailure(error).issues) : {};

  function change(field: DraftField, text: string) {
    setDraft({ ...draft, [field]: text });
    setTouched(new Set([...touched, field]));
  }
  function problemOf(field: DraftField): string | undefined {
    if (refused[field] && !touched.has(field)) return refused[field];
    const isMissing = draft[field].trim() === "";
    return isMissing && !wasTried ? undefined : problems[field];
  }
  function send() {
    setTried(true);
    setTouched(new Set());
    if (body) return onSend(body);
    // After the next paint invalid fields are marked, and the first gets the focus.
    requestAnimationFrame(() => focusWrong(form.current));
  }
  const of = (field: DraftField) => ({
    name: field,
    value: draft[field],
    problem: problemOf(field),
    onChange: ({ target }: { target: { value: string } }) => change(field, target.value),
  });

  return (
    <Form ref={form} send={send} noValidate className="space-y-5">
      <Card>
        <CardBody className="space-y-5">
          <TextField
            {...of("summary")}
            label="Summary"
            hint="One line: what the capability does."
            aria-required
          />
          <LinesField
            {...of("need")}
            label="Need"
            hint="Describe the input, the output and what matters, in as much detail as needed."
            aria-required
            className="min-h-40"
          />
        </CardBody>
      </Card>
      <Card aria-labelledby="more-title">
        <CardHeader id="more-title" title="Details" hint="Optional" />
        <CardBody className="space-y-5">
          <Examples json={draft.acceptanceCases} onChange={(json) => change("acceptanceCases", json)} />
          {MEMBERS.map(({ field, member, isNumber, ...shown }) => {
            const text = memberText(draft[field], member);
            return (
              <TextField
                key={member}
                name={member}
                {...shown}
                inputMode={isNumber ? "numeric" : undefined}
                disabled={text === null}
                value={text ?? ""}
                onChange={({ target: { value } }) =>
                  change(field, withMember(draft[field], member, isNumber ? numberOr(value) : value))
                }
              />
            );
          })}
          <Folded title="Advanced: JSON" isOpen={wasTried && JSON_NAMES.some((name) => problems[name])}>
            <div className="space-y-5">
              {JSON_NAMES.map((name) => (
                <LinesField
                  key={name}
                  {...of(name)}
                  {...JSON_HELP[name]}
                  spellCheck={false}
                  className="min-h-16 font-mono text-xs"
                />
              ))}
            </div>
          </Folded>
        </CardBody>
      </Card>
      <Refusal error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        {cancel}
        <Button type="submit" variant="primary" pending={isPending}>
          {action}
        </Button>
      </div>
    </Form>
  );
}

/** What shows that the capability works, in words. */
function Examples({ json, onChange }: { json: string; onChange(json: string): void }) {
  const examples = examplesOf(json);
  if (!examples)
    return <p className="text-sm text-muted">The acceptance cases are edited as JSON, under Advanced.</p>;
  const set = (at: number, ...next: Example[]) => onChange(fromExamples(examples.toSpliced(at, 1, ...next)));
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-medium">Examples</legend>
      <p className="text-xs text-muted">Each shows that the capability works: an input and what comes out.</p>
      {examples.map((example, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an example is known by its place
        <div key={at} className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_auto]">
          {(["input", "expected"] as const).map((side) => (
            <LinesField
              key={side}
              name={`${side}${at}`}
              label={side === "input" ? `Input ${at + 1}` : "Expected result"}
              rows={2}
              value={example[side]}
              onChange={({ target }) => set(at, { ...example, [side]: target.value })}
            />
          ))}
          <Button size="icon" variant="ghost" aria-label={`Remove example ${at + 1}`} onClick={() => set(at)}>
            <X aria-hidden />
          </Button>
        </div>
      ))}
      <Button size="sm" onClick={() => set(examples.length, { input: "", expected: "" })}>
        <Plus aria-hidden /> Add example
      </Button>
    </fieldset>
  );
}

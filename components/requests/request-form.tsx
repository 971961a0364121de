"use client";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { LinesField, TextField } from "@/components/blocks/form/fields";
import { Form, type FormAction } from "@/components/blocks/form/form";
import { Button } from "@/components/ui/button";
import { Card, CardBody, Section } from "@/components/ui/card";
import Link from "@/components/ui/link";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import {
  type Body,
  DRAFT_FIELDS,
  type DraftField,
  type Example,
  examplesOf,
  fromExamples,
  type JsonField,
  memberText,
  type RequestDraft,
  readDraft,
  withMember,
} from "./draft";
import { Folded } from "./wording";

/** Members that also have a field of their own, besides the JSON below. */
const MEMBERS: { field: JsonField; member: string; label: string; placeholder: string; type?: "number" }[] = [
  {
    field: "constraints",
    member: "maxLatencySeconds",
    label: "Longest response time, in seconds",
    placeholder: "30",
    type: "number",
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

const JSON_NAMES = [
  ["acceptanceCases", "Acceptance cases", '[{ "input": { "page": 1 }, "expected": { "dimensions": 12 } }]'],
  ["constraints", "Constraints", '{ "maxLatencySeconds": 30 }'],
  ["proposedCapability", "Proposed capability", '{ "capabilityKey": "drawing.measure.v1" }'],
  ["implementationPreferences", "Implementation preferences", '{ "selfHosted": true }'],
  ["others", "Any other fields", '{ "team": "blue" }'],
] as const;

/** The form for a request's content. JSON is checked while typing. */
export function RequestForm({
  initial,
  action,
  submit,
  backHref,
  onSend,
}: {
  initial: RequestDraft;
  /** After success the request's page is about to open. */
  action: FormAction & { isSuccess: boolean };
  submit: string;
  backHref: string;
  onSend(body: Body): void;
}) {
  const [draft, setDraft] = useState(initial);
  const [wasTried, setTried] = useState(false);
  const { body, problems } = readDraft(draft);
  useUnsaved(!action.isSuccess && DRAFT_FIELDS.some((field) => draft[field] !== initial[field]));
  const change = (field: DraftField, text: string) => setDraft({ ...draft, [field]: text });
  const of = (field: DraftField) => ({
    name: field,
    value: draft[field],
    problem: problems[field],
    onChange: ({ target }: { target: { value: string } }) => change(field, target.value),
  });
  return (
    <Form
      action={action}
      send={() => {
        setTried(true);
        if (body) onSend(body);
      }}
      className="space-y-5"
    >
      <Card>
        <CardBody className="space-y-5">
          <TextField
            {...of("summary")}
            label="Summary"
            hint="One line: what the capability does."
            required
            maxLength={300}
          />
          <LinesField
            {...of("need")}
            label="Need"
            hint="Describe the input, the output and what matters, in as much detail as needed."
            required
            maxLength={20_000}
            className="min-h-40"
          />
        </CardBody>
      </Card>
      <Section title="Details" hint="Optional" bodyClassName="space-y-5">
        <Examples json={draft.acceptanceCases} onChange={(json) => change("acceptanceCases", json)} />
        {MEMBERS.map(({ field, member, type, ...shown }) => {
          const text = memberText(draft[field], member);
          return (
            <TextField
              key={member}
              name={member}
              {...shown}
              type={type}
              disabled={text === null}
              value={text ?? ""}
              onChange={({ target: { value, valueAsNumber } }) =>
                change(
                  field,
                  withMember(draft[field], member, type === "number" && value ? valueAsNumber : value),
                )
              }
            />
          );
        })}
        <Folded title="Advanced: JSON" isOpen={wasTried && body === null}>
          <div className="space-y-5">
            {JSON_NAMES.map(([name, label, placeholder]) => (
              <LinesField
                key={name}
                {...of(name)}
                label={label}
                placeholder={placeholder}
                spellCheck={false}
                className="min-h-16 font-mono text-xs"
              />
            ))}
          </div>
        </Folded>
      </Section>
      <div className="flex flex-wrap justify-end gap-2">
        <Button asChild>
          <Link href={backHref}>Cancel</Link>
        </Button>
        <Button type="submit" variant="primary" pending={action.isPending || action.isSuccess}>
          {submit}
        </Button>
      </div>
    </Form>
  );
}

/** Acceptance cases as pairs of texts. */
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
